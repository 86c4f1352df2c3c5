collect_ignore = ["bundles"]
