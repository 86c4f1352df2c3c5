"""Texts of tasks cut to what reading by patterns takes in little time, however hostile they are.

Patterns may take time that grows with the square of the length of a line. No sound task has such lines or files, so
what lies beyond the bounds is not looked at.
"""

from __future__ import annotations

from collections.abc import Iterable

FILE_CHARS = 60_000
LINE_CHARS = 1_000
PART_CHARS = 300_000
"""All files of one part together."""


def bounded(text: str) -> str:
    """The beginning of a text, the beginning of each of its lines."""
    text = text[:FILE_CHARS]
    if "\n" not in text[LINE_CHARS:] and len(text) <= LINE_CHARS:
        return text
    return "\n".join(line[:LINE_CHARS] for line in text.split("\n"))


def within_budget(texts: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Texts by name, as many of them as `PART_CHARS` allows, the first ones first."""
    found: dict[str, str] = {}
    left = PART_CHARS
    for name, text in texts:
        found[name] = text[: max(left, 0)]
        left -= len(text)
    return found
