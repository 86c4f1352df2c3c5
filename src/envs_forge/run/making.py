"""Third stage: at each open place draw candidates until one is gold, then decide in the order of the places.

Places are worked on at once, each by one thread. Who wins between two equal candidates is decided afterwards, in the
order of the slots, so that neither speed nor a kill in between changes what is accepted.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from envs_forge.bundle.hashing import content_hash
from envs_forge.bundle.model import Bundle
from envs_forge.bundle.reading import read_bundle
from envs_forge.bundle.writing import write_bundle
from envs_forge.errors import InfrastructureError
from envs_forge.files import new_directory, write_text
from envs_forge.gold.verdict import Decision, Verdict
from envs_forge.redaction import redact
from envs_forge.run.journal import Journal
from envs_forge.run.parts import Parts
from envs_forge.run.place import Draw, Made, Place
from envs_forge.run.progress import Progress
from envs_forge.run.seeds import Seed
from envs_forge.run.workers import run_jobs
from envs_forge.synthesis.generator import Candidate, Rejection

T = TypeVar("T")
SYNTHESIS, DUPLICATE = "synthesis", "duplicate"
BUNDLE, MADE, VERDICT = "bundle", "made.json", "verdict.json"
_PAUSE_S = 2.0


@dataclass(frozen=True)
class Gold:
    """A verified candidate that is not decided on yet."""

    draw: Draw
    content_hash: str


class Maker:
    """Fills places. One object serves a session.

    Args:
        parts: Generator and verifier.
        journal: Where everything is recorded.
        candidates: Directory for what generators write.
        seeds: The parents.
        draws: Tries at a place.
        retries: How often a verification that the machine spoiled is tried again.
        progress: Counters for the display.
        stop: Set to end early.
    """

    def __init__(
        self,
        parts: Parts,
        journal: Journal,
        candidates: Path,
        seeds: Sequence[Seed],
        *,
        draws: int,
        retries: int,
        progress: Progress,
        stop: threading.Event,
    ) -> None:
        self._parts, self._journal, self._candidates = parts, journal, candidates
        self._parents = {seed.hash: seed.bundle for seed in seeds}
        self._draws, self._retries = draws, retries
        self._progress, self._stop = progress, stop
        self._machine_faults: list[InfrastructureError] = []

    def fill(self, places: Sequence[Place]) -> None:
        """Work on places until each has an accepted candidate or has used up its draws.

        Raises:
            InfrastructureError: The machine spoiled a verification again and again; all other places were worked on.
        """
        while places and not self._stop.is_set():
            gold: list[Gold] = []
            taken = self._taken()
            run_jobs(
                [partial(self._work_on, place, taken, gold) for place in places],
                workers=self._parts.workers,
                stop=self._stop,
                abandon=self._parts.close,
            )
            if self._stop.is_set():
                return
            places = self._settle(places, gold)
            if self._machine_faults:
                raise self._machine_faults[0]

    def _work_on(self, place: Place, taken: Set[str], gold: list[Gold]) -> None:
        self._progress.begin()
        try:
            found = self._draw_until_gold(place, taken)
        finally:
            self._progress.end()
        if found is not None:
            gold.append(found)
            self._progress.count()

    def _draw_until_gold(self, place: Place, taken: Set[str]) -> Gold | None:
        decided = self._journal.decided_draws(place)
        for number in range(self._draws):
            if number in decided or self._stop.is_set():
                continue
            draw = place.draw(number)
            made = self._journal.made(draw) or self._make(draw)
            if made is None:
                return None
            if made.candidate is None or made.content_hash is None:
                self._reject(draw, SYNTHESIS, made.code, None)
            elif made.content_hash in taken:
                self._reject(draw, DUPLICATE, DUPLICATE, made.content_hash)
            else:
                verdict = self._verdict(draw, made.candidate)
                if verdict is None:
                    return None
                if verdict.decision is Decision.ACCEPTED:
                    return Gold(draw, made.content_hash)
                self._reject(draw, verdict.stage, verdict.code, made.content_hash)
        return None

    def _taken(self) -> set[str]:
        """Contents that a candidate must not have: those of the seeds and of what is accepted already."""
        accepted = {d.content_hash for d in self._journal.decisions() if d.accepted and d.content_hash}
        return accepted | self._parents.keys()

    def _make(self, draw: Draw) -> Made | None:
        """Ask the generator, unless its answer lies on disk from before a kill. None as in `_patiently`."""
        directory = self._candidates / draw.name
        if (directory / MADE).is_file():
            made: Made | None = Made.model_validate_json((directory / MADE).read_bytes())
        else:
            made = self._patiently(lambda: self._ask(draw, directory), draw)
        if made is not None:
            self._journal.add_made(draw, made)
        return made

    def _ask(self, draw: Draw, directory: Path) -> Made | str:
        began = time.monotonic()
        try:
            answer = self._parts.generator.generate(draw.assignment, self._parents[draw.choice.seed_hash])
        except InfrastructureError as error:
            return str(error)
        made = _described(draw, answer, self._parts.generator.name, time.monotonic() - began)
        _write(made, answer, directory)
        return made

    def _verdict(self, draw: Draw, candidate: str) -> Verdict | None:
        """The verdict on a candidate. None as in `_patiently`."""
        known = self._journal.verdict(draw)
        if known is not None:
            return known
        bundle = stored_candidate(self._candidates, candidate)
        return self._patiently(lambda: self._verify(draw, bundle), draw)

    def _verify(self, draw: Draw, bundle: Bundle) -> Verdict | str:
        verdict = self._parts.verify(bundle)
        if self._stop.is_set():
            return "stopped"
        self._journal.add_verdict(draw, verdict)
        write_text(self._candidates / draw.name / VERDICT, redact(verdict.model_dump_json(indent=2)) + "\n")
        if verdict.decision is not Decision.ERROR:
            return verdict
        return verdict.stages[-1].message if verdict.stages else verdict.code

    def _patiently(self, step: Callable[[], T | str], draw: Draw) -> T | None:
        """Take a step, and again where the machine spoils it (the step then says how, as text).

        Returns:
            What the step gave; None when the machine spoiled every try, or the run is stopped.
        """
        for tries in range(self._retries + 1):
            if tries and self._stop.wait(_PAUSE_S * tries):
                return None
            outcome = step()
            if not isinstance(outcome, str):
                return outcome
            if self._stop.is_set():
                return None
            self._progress.spoil()
        self._machine_faults.append(InfrastructureError(f"the machine failed at candidate {draw.name}: {outcome}"))
        return None

    def _settle(self, places: Sequence[Place], gold: Sequence[Gold]) -> list[Place]:
        """Accept in the order of the slots; places that lost to an equal candidate stay open."""
        taken = self._taken()
        again = []
        by_slot = {place.slot: place for place in places}
        for found in sorted(gold, key=lambda g: g.draw.slot):
            if found.content_hash in taken:
                self._reject(found.draw, DUPLICATE, DUPLICATE, found.content_hash)
                self._progress.count(-1)
                again.append(by_slot[found.draw.slot])
            else:
                self._journal.accept(found.draw, found.content_hash)
                taken.add(found.content_hash)
        return again

    def _reject(self, draw: Draw, stage: str, code: str, digest: str | None) -> None:
        self._journal.reject(draw, stage, code, digest)
        self._progress.reject(stage)


def stored_candidate(candidates: Path, name: str) -> Bundle:
    """A candidate as its generator wrote it, called by its draw."""
    return read_bundle(candidates / name / BUNDLE).model_copy(update={"id": name})


def _described(draw: Draw, answer: Candidate | Rejection, generator: str, seconds: float) -> Made:
    made = Made(
        assignment=draw.assignment,
        generator=generator,
        prompt_tokens=answer.prompt_tokens,
        completion_tokens=answer.completion_tokens,
        seconds=seconds,
    )
    if isinstance(answer, Rejection):
        return made.model_copy(update={"code": answer.code, "evidence": answer.evidence})
    found = {"content_hash": content_hash(answer.bundle), "realised": answer.realised, "detail": answer.detail}
    return made.model_copy(update={"candidate": draw.name, **found})


def _write(made: Made, answer: Candidate | Rejection, directory: Path) -> None:
    """Put an answer on disk as a whole: what is there was paid for and is complete."""
    with new_directory(directory, replace=True) as new:
        if isinstance(answer, Candidate):
            write_bundle(answer.bundle.model_copy(update={"id": BUNDLE}), new)
        write_text(new / MADE, redact(made.model_dump_json(indent=2)) + "\n")
