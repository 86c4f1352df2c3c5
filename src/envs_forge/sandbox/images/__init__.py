"""Images: from a bundle's environment/ to a local image, tagged by content and built once."""
