"""Random choices that are the same on every Python, platform, locale and hash seed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Dice:
    """Choices drawn from a seed made of labels.

    Only `random.Random(str)` and its `random()` are used: both are guaranteed to stay the same, the other methods
    of the module are not.

    Args:
        labels: What the draws are for; equal labels give equal draws.
    """

    def __init__(self, *labels: object) -> None:
        self._label = "/".join(str(label) for label in labels)
        self._random = random.Random(self._label)

    def fork(self, *labels: object) -> Dice:
        """Independent dice for a part of the work, unmoved by how often these were thrown."""
        return Dice(self._label, *labels)

    def unit(self) -> float:
        """A number in [0, 1)."""
        return self._random.random()

    def chance(self, probability: float) -> bool:
        """True with the given probability."""
        return self.unit() < probability

    def between(self, low: int, high: int) -> int:
        """An integer in [low, high]."""
        return low + int(self.unit() * (high - low + 1))

    def pick(self, items: Sequence[T]) -> T:
        """One of the items, which must not be empty."""
        return items[int(self.unit() * len(items))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """All items in a random order."""
        left = list(items)
        for i in range(len(left) - 1, 0, -1):
            j = self.between(0, i)
            left[i], left[j] = left[j], left[i]
        return left

    def sample(self, items: Sequence[T], count: int) -> list[T]:
        """At most `count` different positions of `items`, in random order."""
        return self.shuffled(items)[:count]
