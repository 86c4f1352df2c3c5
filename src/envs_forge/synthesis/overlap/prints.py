"""Fingerprints of a task: shingles and MinHash of each of its texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from envs_forge.synthesis.overlap.document import Document, telling_lines
from envs_forge.synthesis.overlap.shingles import PLACES, Shingles, jaccard, shingles_of, signature_of, words_of

SECTIONS = ("instruction", "solution", "tests")
SHORT, LONG = 5, 13
"""Words of a shingle for likeness, and of one that does not come about twice by chance."""
COMMON_TASKS, COMMON_SHARE = 3, 0.05
"""A line that so many tasks of a pool have, and so large a share of them, is boilerplate."""


@dataclass(frozen=True)
class Prints:
    """What is kept of a task: its words by section, less boilerplate."""

    id: str
    words: tuple[tuple[str, ...], ...]

    @cached_property
    def short(self) -> tuple[Shingles, ...]:
        """Shingles of each section, for likeness."""
        return tuple(shingles_of(words, SHORT) for words in self.words)

    @cached_property
    def long(self) -> tuple[Shingles, ...]:
        """Long shingles of each section; a section that is shorter has none."""
        return tuple(shingles_of(words if len(words) >= LONG else (), LONG) for words in self.words)

    @cached_property
    def signature(self) -> NDArray[np.uint32]:
        """Shape (sections, places)."""
        return np.stack([signature_of(shingles) for shingles in self.short])


@lru_cache(maxsize=64)
def prints_of(document: Document, common: frozenset[str] = frozenset()) -> Prints:
    """Fingerprints without the lines in `common`."""
    kept = ([line for line in telling_lines(name, text) if line not in common] for name, text in document.sections)
    return Prints(document.id, tuple(tuple(words_of("\n".join(lines))) for lines in kept))


def common_lines(documents: Iterable[Document]) -> frozenset[str]:
    """Lines that many tasks share. With few tasks there are none."""
    counts: Counter[str] = Counter()
    total = 0
    for document in documents:
        total += 1
        counts.update({line for name, text in document.sections for line in telling_lines(name, text)})
    least = max(COMMON_TASKS, COMMON_SHARE * total)
    return frozenset(line for line, count in counts.items() if count >= least)


def likeness(a: Prints, b: Prints) -> dict[str, float]:
    """Jaccard index by section; sections that either side lacks are left out."""
    pairs = zip(SECTIONS, a.short, b.short, strict=True)
    return {name: jaccard(one, other) for name, one, other in pairs if len(one) and len(other)}


def estimate(signature: NDArray[np.uint32], many: NDArray[np.uint32]) -> NDArray[np.float64]:
    """Estimated likeness, the mean over the sections, of one task and many: shapes (s, p), (n, s, p) → (n,)."""
    shares: NDArray[np.float64] = (many == signature).sum(axis=(1, 2)) / (signature.shape[0] * PLACES)
    return shares
