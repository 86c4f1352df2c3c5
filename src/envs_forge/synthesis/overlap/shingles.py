"""Shingles: runs of k words as 64-bit numbers, and their MinHash.

Broder, "On the resemblance and containment of documents" (1997): the share of equal places in two signatures estimates
the Jaccard index of the two sets, with a standard error of √(J(1−J)/PLACES).
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Shingles = NDArray[np.uint64]
"""Sorted, each once."""
Signature = NDArray[np.uint32]
"""`PLACES` numbers."""

PLACES = 128
_WORD = re.compile(r"\w+|[^\w\s]")
_BASE = np.uint64(0x9E3779B97F4A7C15)
_EMPTY = np.iinfo(np.uint32).max


def words_of(text: str) -> list[str]:
    """Words and signs of a text, in lower case."""
    return _WORD.findall(text.lower())


def shingles_of(words: Iterable[str], length: int) -> Shingles:
    """Every run of `length` words; a text that is shorter is one shingle, an empty one has none."""
    codes = np.array([zlib.crc32(word.encode()) + 1 for word in words], dtype=np.uint64)
    if not len(codes):
        return codes
    size = min(length, len(codes))
    runs = np.zeros(len(codes) - size + 1, dtype=np.uint64)
    for place in range(size):
        runs = _mixed(runs * _BASE + codes[place : place + len(runs)])
    return np.unique(runs)


def jaccard(a: Shingles, b: Shingles) -> float:
    """Size of the intersection over size of the union; 0 for two empty sets."""
    if not len(a) or not len(b):
        return 0.0
    common = len(np.intersect1d(a, b, assume_unique=True))
    return common / (len(a) + len(b) - common)


def containment(old: Shingles, new: Shingles) -> float:
    """The share of `old` that `new` has; 1 where there is nothing that could be missing."""
    return len(np.intersect1d(old, new, assume_unique=True)) / len(old) if len(old) else 1.0


def signature_of(shingles: Shingles) -> Signature:
    """The MinHash of a set; that of the empty set resembles nothing but itself."""
    if not len(shingles):
        return np.full(PLACES, _EMPTY, dtype=np.uint32)
    factors, offsets = _families()
    least = np.full(PLACES, np.iinfo(np.uint64).max, dtype=np.uint64)
    for start in range(0, len(shingles), 4096):
        block = shingles[start : start + 4096, None] * factors + offsets
        least = np.minimum(least, block.min(axis=0))
    return (least >> np.uint64(32)).astype(np.uint32)


@lru_cache(maxsize=1)
def _families() -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Factors and offsets of the hash functions, the same in every process."""
    dice = np.random.Generator(np.random.PCG64(1997))
    factors = dice.integers(1, 2**63, PLACES, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    return factors, dice.integers(0, 2**63, PLACES, dtype=np.uint64)


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of SplitMix64: every bit of the result depends on every bit of the value."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
