"""How much of a text is another one under other names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

MOST_WORDS = 2500
"""Words of each text that are compared; the rest is left out."""


@dataclass(frozen=True)
class Renaming:
    """One text seen as another one under other names.

    Attributes:
        found: Share of the old words that are found again, the same or renamed; what was added takes nothing from it.
        share: The same of the longer text: what was added counts as new.
        names: Old names and what stands in their place.
    """

    found: float
    share: float
    names: Mapping[str, str] = field(default_factory=dict)


def renaming_of(old: Sequence[str], new: Sequence[str]) -> Renaming:
    """How far `new` is `old`, or `old` but for a consistent change of names.

    The two are aligned. Where as many words stand in the place of others, each pair is a renaming; a renaming counts
    when it is one to one for the most part of its occurrences. Numbers are no names: another one is a real change.
    """
    old, new = old[:MOST_WORDS], new[:MOST_WORDS]
    if not old or not new:
        return Renaming(0.0, 0.0)
    same, pairs = 0, Counter[tuple[str, str]]()
    for kind, a, b, c, d in SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes():
        if kind == "equal":
            same += b - a
        elif kind == "replace" and b - a == d - c:
            pairs.update(zip(old[a:b], new[c:d], strict=True))
    names, count = _consistent(pairs)
    return Renaming((same + count) / len(old), (same + count) / max(len(old), len(new)), names)


def _consistent(pairs: Counter[tuple[str, str]]) -> tuple[dict[str, str], int]:
    """Renamings that are one to one, each old name with its most frequent new one, and how often they occur."""
    taken: dict[str, str] = {}
    total = 0
    for (old, new), count in sorted(pairs.items(), key=lambda item: (-item[1], item[0])):
        if old.isidentifier() and new.isidentifier() and old not in taken and new not in taken.values():
            taken[old] = new
            total += count
    return taken, total
