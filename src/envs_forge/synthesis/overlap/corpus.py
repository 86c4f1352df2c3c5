"""Tasks that a candidate must not repeat: seeds, accepted candidates, evaluation sets, canary strings."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from envs_forge.bundle.model import Bundle


class Source(StrEnum):
    """What a task of the corpus is."""

    SEED = "seed"
    CANDIDATE = "candidate"
    EVALUATION = "evaluation"


@dataclass(frozen=True, slots=True)
class Match:
    """A task of the corpus that a bundle resembles. `similarity` is a Jaccard index in [0, 1]."""

    id: str
    source: Source
    similarity: float


class Corpus:
    """Add tasks, then ask which are nearest to a bundle. May be used from several threads.

    Args:
        canaries: Strings that mark evaluation data; none may occur in a candidate.
    """

    def __init__(self, *, canaries: Iterable[str] = ()) -> None:
        self.canaries = tuple(canaries)
        self._lock = threading.Lock()

    def add(self, bundle: Bundle, source: Source = Source.CANDIDATE) -> None:
        """Take a task in."""

    def nearest(self, bundle: Bundle, *, sources: Iterable[Source] = tuple(Source), most: int = 3) -> list[Match]:
        """The tasks most like a bundle, nearest first; the one of the same content among them."""
        return []
