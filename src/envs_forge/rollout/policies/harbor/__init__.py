"""Harbor's agents on Harbor's environments, judged by Harbor's own verifier."""
