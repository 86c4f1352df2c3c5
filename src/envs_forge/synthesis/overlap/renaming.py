"""How much of a text is another one under other names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

MOST_WORDS = 2500
"""Words of each text that are compared; the rest is left out."""


def renamed_share(old: Sequence[str], new: Sequence[str]) -> float:
    """The share of words that are the same, or the same but for a consistent change of names, in [0, 1].

    The two are aligned. Where as many words stand in the place of others, each pair is a renaming; a renaming counts
    when it is one to one for the most part of its occurrences. Numbers are no names: another one is a real change.
    """
    old, new = old[:MOST_WORDS], new[:MOST_WORDS]
    if not old or not new:
        return 0.0
    same, pairs = 0, Counter[tuple[str, str]]()
    for kind, a, b, c, d in SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes():
        if kind == "equal":
            same += b - a
        elif kind == "replace" and b - a == d - c:
            pairs.update(zip(old[a:b], new[c:d], strict=True))
    return (same + _consistent(pairs)) / max(len(old), len(new))


def _consistent(pairs: Counter[tuple[str, str]]) -> int:
    """Occurrences of renamings that are one to one, each old name counted for its most frequent new one."""
    taken: dict[str, str] = {}
    total = 0
    for (old, new), count in sorted(pairs.items(), key=lambda item: (-item[1], item[0])):
        if old.isidentifier() and new.isidentifier() and old not in taken and new not in taken.values():
            taken[old] = new
            total += count
    return total
