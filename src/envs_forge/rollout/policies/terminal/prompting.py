"""Renders the prompts. Their wording is part of the policy's identity."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment

VERSION = "2"
"""Raised with every change of wording; the digest says the same without trust."""
_SUFFIX = ".j2"


def render(name: str, **values: Any) -> str:
    """The text of one template, without the line feed at its end."""
    return _environment().get_template(name + _SUFFIX).render(**values).removesuffix("\n")


@cache
def digest() -> str:
    """Of all templates, names and content."""
    found = hashlib.sha256()
    for name, text in sorted(_sources().items()):
        found.update(f"{name}\n{len(text)}\n{text}".encode())
    return found.hexdigest()[:16]


@cache
def _sources() -> dict[str, str]:
    folder = resources.files(__package__).joinpath("prompts")
    return {file.name: file.read_text("utf-8") for file in folder.iterdir() if file.name.endswith(_SUFFIX)}


@cache
def _environment() -> Environment:
    from jinja2 import DictLoader, Environment, StrictUndefined

    # Plain text for a model: nothing to escape. Values are never templates, so hostile output stays text.
    return Environment(loader=DictLoader(_sources()), undefined=StrictUndefined, keep_trailing_newline=True)
