"""The procedural generator: typed operations composed into chains, rendered as whole, consistent bundles."""
