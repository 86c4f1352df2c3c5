"""The base-image map: which local image stands in for an image that a Dockerfile names."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache
from importlib import resources

from envs_forge.sandbox.images.names import familiar


class BaseMap:
    """A table of patterns; a site's own comes before the packaged one.

    Args:
        extra: Pattern over familiar names (`ubuntu:*`) → local image, in order of precedence.
    """

    def __init__(self, extra: Mapping[str, str] | None = None) -> None:
        self._table = [*(extra or {}).items(), *packaged().items()]

    def stand_in(self, name: str) -> str | None:
        """The local image for `name`, or None."""
        wanted = familiar(name)
        return next((local for pattern, local in self._table if _matches(wanted, pattern)), None)


@cache
def packaged() -> Mapping[str, str]:
    """The table that comes with the package."""
    text = resources.files("envs_forge.sandbox.images").joinpath("base_images.toml").read_text("utf-8")
    return {str(pattern): str(local) for pattern, local in tomllib.loads(text)["images"].items()}


def _matches(name: str, pattern: str) -> bool:
    """Patterns without a tag match every tag."""
    return fnmatchcase(name, pattern) or fnmatchcase(name.rpartition(":")[0], pattern)
