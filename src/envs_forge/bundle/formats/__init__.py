"""Other formats of tasks, read into bundles."""
