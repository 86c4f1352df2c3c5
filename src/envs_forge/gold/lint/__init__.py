"""Lint: what can be said against a bundle without running it."""

from envs_forge.gold.lint.runner import inspect, lint

__all__ = ["inspect", "lint"]
