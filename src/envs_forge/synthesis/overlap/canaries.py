"""Canaries: strings that the makers of evaluation sets put into their tasks so that a leak can be found."""

from __future__ import annotations

import re
from collections.abc import Iterator

_GUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.I)


def canaries_in(text: str) -> Iterator[str]:
    """The GUIDs on lines that speak of a canary, and on the line after."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if "canary" in line.lower():
            yield from _GUID.findall("\n".join(lines[number : number + 2]))
