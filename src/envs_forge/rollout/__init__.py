"""A policy attempts a bundle: policies, trials, pass rates with their uncertainty, whole measurements."""
