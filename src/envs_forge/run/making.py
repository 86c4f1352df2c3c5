"""Third stage: at each open place draw candidates until one is gold, then decide in the order of the places.

Places are worked on at once, each by one thread; a gate lets only so many into sandboxes. Who wins between two equal
candidates is decided afterwards, in the order of the slots, so that neither speed nor a kill in between changes what is
accepted.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from envs_forge.gold.verdict import Decision, Verdict
from envs_forge.ledger.records import DecisionRecord
from envs_forge.models.throttle import Throttle
from envs_forge.run.attempts import Attempts, stored_candidate
from envs_forge.run.budget import BudgetReachedError
from envs_forge.run.checks import BAND, Failed
from envs_forge.run.digests import Failures
from envs_forge.run.journal import Journal
from envs_forge.run.parts import Parts
from envs_forge.run.place import Draw, Made, Place
from envs_forge.run.planning import REPAIR_FOLLOWS
from envs_forge.run.progress import Progress
from envs_forge.run.seeds import Seed
from envs_forge.run.workers import run_jobs
from envs_forge.synthesis.generator import UNREPAIRED, Feedback, Repairing, attempt_name

SYNTHESIS, DUPLICATE, AUDIT = "synthesis", "duplicate", "audit"
BEYOND_REPAIR = frozenset(
    {"answer-refused", "answer-empty", "answer-secret", "prompt-too-long", "evaluation-overlap", "canary", UNREPAIRED}
)
"""Rejections that another word to the model does not mend, or whose evidence it must not see."""
_EVIDENCE = 6000


@dataclass(frozen=True)
class Gold:
    """A verified candidate that is not decided on yet."""

    draw: Draw
    content_hash: str
    notes: dict[str, Any]
    """What else is known of it, for the record: the judge's opinion, the measured pass rate."""


@dataclass(frozen=True)
class Lost:
    """A draw that was rejected. `feedback` is there when it goes to a repair."""

    feedback: Feedback | None


class Maker:
    """Fills places. One object serves a session.

    Args:
        parts: Generator, auditor, verifier.
        journal: Where everything is recorded.
        candidates: Directory for what generators write.
        seeds: The parents.
        draws: Tries at a place.
        repairs: Repairs of each of them, by generators that can.
        retries: How often a verification that the machine spoiled is tried again.
        progress: Counters for the display.
        stop: Set to end early.
        failures: How the failing rollouts on each seed failed, by content hash.
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
        repairs: int = 0,
        failures: Mapping[str, Failures] | None = None,
    ) -> None:
        self._parts, self._journal, self._candidates = parts, journal, candidates
        self._seeds = {seed.hash for seed in seeds}
        self._draws = draws
        self._repairs = repairs if isinstance(parts.generator, Repairing) else 0
        self._progress, self._stop = progress, stop
        self._gate = Throttle(parts.workers, None)
        parents = {seed.hash: seed.bundle for seed in seeds}
        self._attempts = Attempts(
            parts, journal, candidates, parents, failures or {}, retries, progress, stop, self._gate
        )
        self.exhausted: BudgetReachedError | None = None
        """Set once the budget allows no further request."""
        self._know_accepted()

    def fill(self, places: Sequence[Place]) -> None:
        """Work on places until each has an accepted candidate or has used up its draws, or the budget is reached.

        Raises:
            InfrastructureError: The machine spoiled a step again and again; all other places were worked on.
        """
        while places and not self._stop.is_set():
            gold: list[Gold] = []
            taken = self._taken()
            run_jobs(
                [partial(self._work_on, place, taken, gold) for place in places],
                workers=self._parts.in_flight or self._parts.workers,
                stop=self._stop,
                abandon=self._abandon,
            )
            if self._stop.is_set():
                return
            places = self._settle(places, gold)
            if self._attempts.machine_faults:
                raise self._attempts.machine_faults[0]
            if self.exhausted is not None:
                return

    def _abandon(self) -> None:
        self._parts.close()
        self._gate.wake()

    def _work_on(self, place: Place, taken: Set[str], gold: list[Gold]) -> None:
        self._progress.begin()
        try:
            found = self._draw_until_gold(place, taken)
        except BudgetReachedError as error:
            self.exhausted, found = error, None
        finally:
            self._progress.end()
        if found is not None:
            gold.append(found)
            self._progress.count()

    def _draw_until_gold(self, place: Place, taken: Set[str]) -> Gold | None:
        decided = self._journal.decided(place)
        for number in range(self._draws):
            feedback: Feedback | None = None
            for repair in range(self._repairs + 1):
                if self._stop.is_set():
                    return None
                draw = place.draw(number, repair)
                record = decided.get((number, repair))
                step = self._lost(draw, record) if record is not None else self._try(draw, feedback, taken)
                if step is None or isinstance(step, Gold):
                    return step
                feedback = step.feedback
                if feedback is None:
                    break
        return None

    def _lost(self, draw: Draw, record: DecisionRecord) -> Lost:
        """A draw that an earlier session rejected."""
        if not record.payload.get(REPAIR_FOLLOWS):
            return Lost(None)
        return Lost(self._feedback(draw, record.stage, record.code, str(record.payload.get("evidence", ""))))

    def _try(self, draw: Draw, feedback: Feedback | None, taken: Set[str]) -> Gold | Lost | None:
        """One attempt from the generator to the last check. None when the run stops or the machine fails."""
        made = self._journal.made(draw) or self._attempts.make(draw, feedback)
        if made is None:
            return None
        if made.candidate is None or made.content_hash is None:
            return self._reject(draw, SYNTHESIS, made.code, made.evidence, None)
        if made.content_hash in taken:
            return self._reject(draw, DUPLICATE, DUPLICATE, "", made.content_hash)
        if draw.repair and made.content_hash in self._earlier(draw):
            return self._reject(draw, SYNTHESIS, UNREPAIRED, "the rejected environment again", made.content_hash)
        return self._check(draw, made, made.candidate, made.content_hash)

    def _earlier(self, draw: Draw) -> Set[str | None]:
        """Contents that were rejected at this draw already."""
        before = (self._journal.made(replace(draw, repair=repair)) for repair in range(draw.repair))
        return {made.content_hash for made in before if made is not None}

    def _check(self, draw: Draw, made: Made, candidate: str, digest: str) -> Gold | Lost | None:
        attempts = self._attempts
        findings = attempts.audit(draw, candidate)
        if findings:
            evidence = "\n".join(map(str, findings))
            return self._reject(draw, AUDIT, findings[0].code, evidence, digest)
        verdict = attempts.verdict(draw, candidate)
        if verdict is None:
            return None
        if verdict.decision is not Decision.ACCEPTED:
            return self._reject(draw, verdict.stage, verdict.code, told(verdict), digest)
        notes: dict[str, Any] = {}
        for check in (attempts.judge, attempts.measured):
            found = check(draw, candidate, digest, notes)
            if found is None:
                return None
            if isinstance(found, Failed):
                return self._reject(draw, found.stage, found.code, found.evidence, digest, notes)
        return Gold(draw, digest, notes)

    def _reject(
        self, draw: Draw, stage: str, code: str, evidence: str, digest: str | None, notes: dict[str, Any] | None = None
    ) -> Lost:
        follows = draw.repair < self._repairs and stage != DUPLICATE and code not in BEYOND_REPAIR
        payload: dict[str, Any] = dict(notes or {})
        if self._repairs or stage in (AUDIT, BAND):
            payload |= {REPAIR_FOLLOWS: follows, "evidence": evidence[:_EVIDENCE]}
        self._journal.reject(draw, stage, code, digest, **payload)
        self._progress.reject(stage)
        return Lost(self._feedback(draw, stage, code, evidence) if follows else None)

    def _feedback(self, draw: Draw, stage: str, code: str, evidence: str) -> Feedback:
        made = self._journal.made(draw)
        bundle = stored_candidate(self._candidates, made.candidate) if made and made.candidate else None
        return Feedback(stage=stage, code=code, evidence=evidence[:_EVIDENCE], previous=draw.name, bundle=bundle)

    def _settle(self, places: Sequence[Place], gold: Sequence[Gold]) -> list[Place]:
        """Accept in the order of the slots; places that lost to an equal or a near candidate stay open."""
        taken = self._taken()
        again = []
        by_slot = {place.slot: place for place in places}
        news = False
        for found in sorted(gold, key=lambda g: g.draw.slot):
            # What was accepted in this round was not there when the candidate was audited.
            findings = self._attempts.audit(found.draw, found.draw.name) if news else ()
            if found.content_hash in taken:
                self._reject(found.draw, DUPLICATE, DUPLICATE, "", found.content_hash)
            elif findings:
                evidence = "\n".join(map(str, findings))
                self._reject(found.draw, AUDIT, findings[0].code, evidence, found.content_hash)
            else:
                self._journal.accept(found.draw, found.content_hash, **found.notes)
                taken.add(found.content_hash)
                self._attempts.accepted(found.draw.name)
                news = True
                continue
            self._progress.count(-1)
            again.append(by_slot[found.draw.slot])
        return again

    def _taken(self) -> set[str]:
        """Contents that a candidate must not have: those of the seeds and of what is accepted already."""
        accepted = {d.content_hash for d in self._journal.decisions() if d.accepted and d.content_hash}
        return accepted | self._seeds

    def _know_accepted(self) -> None:
        for d in self._journal.decisions():
            if d.accepted:
                self._attempts.accepted(attempt_name(d.slot, d.plan, d.draw, d.repair))


def told(verdict: Verdict) -> str:
    """What a verdict says of the first stage that did not pass."""
    stage = next((stage for stage in verdict.stages if stage.stage == verdict.stage), None)
    if stage is None:
        return ""
    return "\n".join(text for text in (stage.message, stage.evidence) if text)
