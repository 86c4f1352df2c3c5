"""Measurements on disk, in the job layout of Harbor 0.26, so that its viewer and its readers open them."""
