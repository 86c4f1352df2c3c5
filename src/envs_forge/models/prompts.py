"""Prompts as Jinja files of a package: rendered, versioned, and with a digest that says the same without trust."""

from __future__ import annotations

import hashlib
from functools import cached_property
from importlib import resources
from typing import Any

_SUFFIX = ".j2"


class Prompts:
    """The templates in the folder `prompts` of a package.

    Args:
        package: Its dotted name.
        version: Raised with every change of wording.
    """

    def __init__(self, package: str, version: str) -> None:
        self._package = package
        self.version = version

    def render(self, name: str, **values: Any) -> str:
        """The text of one template, without the line feed at its end. Values are text, never templates."""
        return str(self._environment.get_template(name + _SUFFIX).render(**values)).removesuffix("\n")

    @cached_property
    def digest(self) -> str:
        """Of all templates, names and content."""
        found = hashlib.sha256()
        for name, text in sorted(self._sources.items()):
            found.update(f"{name}\n{len(text)}\n{text}".encode())
        return found.hexdigest()[:16]

    @property
    def identity(self) -> str:
        """Version and digest, for locks."""
        return f"{self.version}-{self.digest}"

    @cached_property
    def _sources(self) -> dict[str, str]:
        folder = resources.files(self._package).joinpath("prompts")
        return {file.name: file.read_text("utf-8") for file in folder.iterdir() if file.name.endswith(_SUFFIX)}

    @cached_property
    def _environment(self) -> Any:
        from jinja2 import DictLoader, Environment, StrictUndefined

        return Environment(loader=DictLoader(self._sources), undefined=StrictUndefined, keep_trailing_newline=True)
