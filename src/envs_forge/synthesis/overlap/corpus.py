"""Tasks that a candidate must not repeat: seeds, accepted candidates, evaluation sets, canary strings."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from envs_forge.bundle.model import Bundle
from envs_forge.synthesis.overlap.canaries import canaries_in
from envs_forge.synthesis.overlap.document import Document, document_of
from envs_forge.synthesis.overlap.prints import (
    SECTIONS,
    Prints,
    common_lines,
    estimate,
    likeness,
    prints_of,
)
from envs_forge.synthesis.overlap.shingles import PLACES

LOOKED_AT = 8
"""Tasks that MinHash finds nearest, of which the likeness is then worked out exactly."""
CONTAINED: Mapping[str, float] = {"instruction": 0.7, "solution": 0.9}
"""This share of the runs of thirteen words of a text in common with an evaluation task is a hit. Short scripts for the
same operation have much in common: up to 0.86 between two of the bundled seeds, whose instructions reach 0.6."""
FEWEST_RUNS = 12
"""A text with fewer such runs is too short for a share to say something."""
ALIKE = 0.65
"""Mean likeness with an evaluation task from which on it is a hit."""


class Source(StrEnum):
    """What a task of the corpus is."""

    SEED = "seed"
    CANDIDATE = "candidate"
    EVALUATION = "evaluation"


@dataclass(frozen=True, slots=True)
class Match:
    """A task of the corpus that a bundle resembles.

    Attributes:
        id: The task's.
        source: What it is.
        similarity: Mean of `sections`, in [0, 1].
        sections: Jaccard index of instruction, solution and tests where both have one.
    """

    id: str
    source: Source
    similarity: float
    sections: Mapping[str, float] = field(default_factory=dict)


class Corpus:
    """Add tasks, then ask which are nearest to a bundle. May be used from several threads.

    What counts as boilerplate is settled when it is made, so that the order in which candidates are added does not
    change what is near.

    Args:
        seeds: The pool.
        evaluation: Tasks that nothing may repeat.
        canaries: Strings that mark evaluation data, beside those that stand in `evaluation`.
    """

    def __init__(
        self, seeds: Iterable[Bundle] = (), *, evaluation: Iterable[Document] = (), canaries: Iterable[str] = ()
    ) -> None:
        pool, held_out = [document_of(seed) for seed in seeds], list(evaluation)
        marks = (mark for document in held_out for _, text in document.sections for mark in canaries_in(text))
        self.canaries = tuple(sorted({*canaries, *marks}))
        self.common = common_lines([*pool, *held_out])
        self._lock = threading.Lock()
        self._prints: list[Prints] = []
        self._sources: list[Source] = []
        self._signatures = np.empty((0, len(SECTIONS), PLACES), dtype=np.uint32)
        for document in pool:
            self._add(document, Source.SEED)
        for document in held_out:
            self._add(document, Source.EVALUATION)

    def __len__(self) -> int:
        return len(self._prints)

    def add(self, bundle: Bundle, source: Source = Source.CANDIDATE) -> None:
        """Take a task in."""
        self._add(document_of(bundle), source)

    def prints(self, bundle: Bundle) -> Prints:
        """Fingerprints of a bundle as this corpus takes them."""
        return prints_of(document_of(bundle), self.common)

    def nearest(self, bundle: Bundle, *, sources: Iterable[Source] = tuple(Source), most: int = 3) -> list[Match]:
        """The tasks most like a bundle, nearest first; one of the same content among them."""
        return self._nearest(self.prints(bundle), frozenset(sources), most)

    def evaluation_hit(self, bundle: Bundle) -> Match | None:
        """The evaluation task that a bundle repeats too much of; None where there is none.

        That is one with the share `CONTAINED` of the runs of thirteen words of the instruction or of the solution (of
        the shorter side) in common, or alike by `ALIKE` in the mean with the tests. Tests alone make no hit: unrelated
        tasks of one family often share the program that checks them. `similarity` is the share that made it a hit.
        """
        prints = self.prints(bundle)
        alike = self._nearest(prints, frozenset({Source.EVALUATION}), 1)
        if alike and alike[0].similarity >= ALIKE:
            return alike[0]
        with self._lock:
            known = [p for p, source in zip(self._prints, self._sources, strict=True) if source is Source.EVALUATION]
        hits = [
            Match(other.id, Source.EVALUATION, share, shares)
            for other in known
            for shares in [contained(prints, other)]
            for name, share in shares.items()
            if share >= CONTAINED[name]
        ]
        return max(hits, key=lambda hit: (hit.similarity, hit.id), default=None)

    def canary(self, bundle: Bundle) -> str | None:
        """The first canary that stands in any file of a bundle; None where there is none."""
        texts = [bundle.id.encode(), *(file.data for file in bundle.files.values())]
        return next((mark for mark in self.canaries if any(mark.encode() in text for text in texts)), None)

    def _add(self, document: Document, source: Source) -> None:
        prints = prints_of(document, self.common)
        signature = prints.signature[None]
        with self._lock:
            self._prints.append(prints)
            self._sources.append(source)
            self._signatures = np.concatenate([self._signatures, signature])

    def _nearest(self, prints: Prints, sources: frozenset[Source], most: int) -> list[Match]:
        with self._lock:
            signatures, known = self._signatures, list(zip(self._prints, self._sources, strict=True))
        chosen = [at for at, (_, source) in enumerate(known) if source in sources]
        if not chosen:
            return []
        order = _largest(estimate(prints.signature, signatures[chosen]), max(LOOKED_AT, most))
        matches = [_match(prints, *known[chosen[at]]) for at in order]
        return sorted(matches, key=lambda match: (-match.similarity, match.id))[:most]


def contained(a: Prints, b: Prints) -> dict[str, float]:
    """Of instruction and solution, the share of the shorter side's long shingles that the other has as well."""
    found = {}
    for name, one, other in zip(SECTIONS[:2], a.long, b.long, strict=False):
        fewer = min(len(one), len(other))
        if fewer >= FEWEST_RUNS:
            found[name] = len(np.intersect1d(one, other, assume_unique=True)) / fewer
    return found


def _match(prints: Prints, other: Prints, source: Source) -> Match:
    sections = likeness(prints, other)
    return Match(other.id, source, sum(sections.values()) / len(sections) if sections else 0.0, sections)


def _largest(values: NDArray[np.float64], count: int) -> list[int]:
    return [int(at) for at in np.argsort(-values, kind="stable")[:count]]
