"""The rules. Importing this package registers them."""

from envs_forge.gold.lint.rules import checks, config, drift, formats, image, leaks, reward, status

__all__ = ["checks", "config", "drift", "formats", "image", "leaks", "reward", "status"]
