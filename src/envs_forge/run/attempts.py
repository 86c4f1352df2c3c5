"""The steps of one attempt: ask, audit, verify, judge, measure. Each is taken once and recorded before the next."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from envs_forge.bundle.hashing import content_hash
from envs_forge.bundle.model import Bundle
from envs_forge.bundle.reading import read_bundle
from envs_forge.bundle.writing import write_bundle
from envs_forge.errors import InfrastructureError, InvariantError
from envs_forge.files import new_directory, write_text
from envs_forge.gold.verdict import Decision, Verdict
from envs_forge.models.faults import EndpointError
from envs_forge.models.throttle import Throttle
from envs_forge.models.wire import storable
from envs_forge.redaction import redact
from envs_forge.rollout.trial import PassRate
from envs_forge.run.checks import Failed, statuses
from envs_forge.run.digests import Failures
from envs_forge.run.journal import CHILD, Journal
from envs_forge.run.parts import Parts
from envs_forge.run.place import Draw, Made
from envs_forge.run.progress import Progress
from envs_forge.synthesis.audit.model import Finding
from envs_forge.synthesis.generator import Assignment, Candidate, Feedback, Rejection, Repairing
from envs_forge.synthesis.llm.faults import unforeseen

T = TypeVar("T")
BUNDLE, MADE, VERDICT = "bundle", "made.json", "verdict.json"
JUDGE = "judge"
_PAUSE_S = 2.0
_SILENT = 3
"""So many attempts in a row that the endpoint or the machine spoilt, and no further one is asked for."""


class Attempts:
    """Takes the steps for `Maker`; see there for what the arguments are.

    Every step gives None when the run stops or the machine spoiled it again and again; then `machine_faults` says how.
    """

    def __init__(
        self,
        parts: Parts,
        journal: Journal,
        candidates: Path,
        parents: Mapping[str, Bundle],
        failures: Mapping[str, Failures],
        retries: int,
        progress: Progress,
        stop: threading.Event,
        gate: Throttle,
    ) -> None:
        self._parts, self._journal, self._candidates = parts, journal, candidates
        self._parents, self._failures, self._retries = parents, failures, retries
        self._progress, self._stop, self._gate = progress, stop, gate
        self._auditor = parts.make_auditor(list(parents.values())) if parts.make_auditor is not None else None
        self._silent = 0
        self._measuring: dict[str, threading.Lock] = {}
        self.machine_faults: list[InfrastructureError] = []

    def make(self, draw: Draw, feedback: Feedback | None) -> Made | None:
        """Ask the generator, unless its answer lies on disk from before a kill."""
        directory = self._candidates / draw.name
        if (directory / MADE).is_file():
            made: Made | None = Made.model_validate_json((directory / MADE).read_bytes())
        elif self._silent >= _SILENT:
            return None
        else:
            made = self._patiently(lambda: self._ask(draw, directory, feedback), draw)
            self._silent = 0 if made is not None else self._silent + 1
        if made is not None:
            self._journal.add_made(draw, made)
        return made

    def audit(self, draw: Draw, candidate: str) -> Sequence[Finding]:
        """What speaks against a candidate without a container."""
        if self._auditor is None:
            return ()
        parent = self._parents[draw.choice.seed_hash]
        return self._auditor.check(parent, self._stored(candidate), self._assignment(draw))

    def accepted(self, candidate: str) -> None:
        """From now on nothing may be a near copy of this candidate."""
        if self._auditor is not None:
            self._auditor.accept(self._stored(candidate))

    def verdict(self, draw: Draw, candidate: str) -> Verdict | None:
        """The verdict of gold verification."""
        known = self._journal.verdict(draw)
        if known is not None:
            return known
        bundle = self._stored(candidate)
        return self._patiently(lambda: self._gated(lambda: self._verify(draw, bundle)), draw)

    def judge(self, draw: Draw, candidate: str, digest: str, notes: dict[str, Any]) -> Failed | bool | None:
        """Ask the judge, if there is one; its opinion goes into `notes`."""
        judge = self._parts.judge
        if judge is None:
            return True
        parent, bundle = self._parents[draw.choice.seed_hash], self._stored(candidate)

        def ask() -> Any:
            try:
                return judge.opinion(self._assignment(draw), parent, bundle)
            except InfrastructureError as error:
                return self._spoilt(error)

        opinion = self._patiently(ask, draw)
        if opinion is None:
            return None
        notes["judge"] = opinion.model_dump(mode="json")
        if judge.rejects and opinion.code:
            return Failed(JUDGE, opinion.code, opinion.reason)
        return True

    def measured(self, draw: Draw, candidate: str, digest: str, notes: dict[str, Any]) -> Failed | bool | None:
        """Run the policy on a candidate, if that is wanted; predicted and measured go into `notes`."""
        remeasure = self._parts.remeasure
        if remeasure is None:
            return True
        bundle = self._stored(candidate)
        # Rollouts are known by content: of two equal candidates the second finds those of the first.
        alone = self._measuring.setdefault(digest, threading.Lock())

        def roll() -> PassRate | str:
            rate = remeasure(
                [bundle],
                known=self._journal.child_trials(digest),
                on_trial=lambda trial, _: self._journal.add_trial(trial, purpose=CHILD),
                stop=self._stop,
            )[0]
            # Only machine and endpoint leave rollouts missing. Whatever else does not count comes again each time.
            return f"{rate.missing} rollouts on it are lost ({statuses(rate)})" if rate.missing else rate

        with alone:
            rate = self._patiently(lambda: self._gated(roll), draw)
        if rate is None or self._stop.is_set():
            return None
        notes |= {"predicted": draw.choice.predicted, "k": rate.k, "n": rate.n, "measured": rate.rate}
        return self._parts.in_band(rate, draw.choice.predicted) or True

    def _assignment(self, draw: Draw) -> Assignment:
        return self._failures.get(draw.choice.seed_hash, Failures()).told(draw.assignment)

    def _ask(self, draw: Draw, directory: Path, feedback: Feedback | None) -> Made | str:
        began = time.monotonic()
        assignment, parent = self._assignment(draw), self._parents[draw.choice.seed_hash]
        generator = self._parts.generator
        try:
            if feedback is not None and isinstance(generator, Repairing):
                answer = generator.repair(assignment, parent, feedback)
            else:
                answer = generator.generate(assignment, parent)
        except InfrastructureError as error:
            return self._spoilt(error)
        seconds = time.monotonic() - began
        # What was paid at the desk is what it took, whatever the generator says of it or leaves out.
        answer = answer.model_copy(update=self._journal.paid(draw))
        return kept(draw, answer, directory, generator=generator.name, seconds=seconds, feedback=feedback)

    def _verify(self, draw: Draw, bundle: Bundle) -> Verdict | str:
        verdict = self._parts.verify(bundle)
        if self._stop.is_set():
            return "stopped"
        self._journal.add_verdict(draw, verdict)
        write_text(self._candidates / draw.name / VERDICT, redact(verdict.model_dump_json(indent=2)) + "\n")
        if verdict.decision is not Decision.ERROR:
            return verdict
        return verdict.stages[-1].message if verdict.stages else verdict.code

    def _stored(self, candidate: str) -> Bundle:
        return stored_candidate(self._candidates, candidate)

    def _gated(self, step: Callable[[], T | str]) -> T | str:
        """Take a step that needs a sandbox, when it is its turn."""
        with self._gate.slot(0, self._stop.is_set) as turn:
            return step() if turn is not None else "stopped"

    def _spoilt(self, error: InfrastructureError) -> str:
        """A fault as text for `_patiently`; one that no other try mends ends the attempt at once."""
        if isinstance(error, EndpointError) and not error.transient and not self._stop.is_set():
            raise error
        return str(error)

    def _patiently(self, step: Callable[[], T | str], draw: Draw) -> T | None:
        """Take a step, and again where the machine spoils it (the step then says how, as text).

        Returns:
            What the step gave; None when the machine spoiled every try, or the run is stopped.
        """
        for tries in range(self._retries + 1):
            if tries and self._stop.wait(_PAUSE_S * tries):
                return None
            try:
                outcome = step()
            except EndpointError as error:
                self.machine_faults.append(error)
                self._silent = _SILENT
                return None
            if not isinstance(outcome, str):
                return outcome
            if self._stop.is_set():
                return None
            self._progress.spoil()
        self.machine_faults.append(InfrastructureError(f"the machine failed at candidate {draw.name}: {outcome}"))
        return None


def stored_candidate(candidates: Path, name: str) -> Bundle:
    """A candidate as its generator wrote it, called by its draw."""
    return read_bundle(candidates / name / BUNDLE).model_copy(update={"id": name})


def kept(
    draw: Draw,
    answer: Candidate | Rejection,
    directory: Path,
    *,
    generator: str,
    seconds: float,
    feedback: Feedback | None = None,
) -> Made:
    """Put an answer on disk as a whole: what is there was paid for, is complete and can be read again.

    Args:
        draw: What was asked for.
        answer: What came; where it cannot be kept, a rejection that says why is kept in its place.
        directory: Where to; one that is there gives way.
        generator: Who answered.
        seconds: How long that took.
        feedback: What the answer repairs.

    Raises:
        Exception: The machine failed, see `unforeseen`.
    """
    try:
        return _written(_described(draw, answer, generator, seconds, feedback), answer, directory)
    except Exception as error:
        fault = unforeseen(error)
        if fault is None:
            raise
        tokens = {"prompt_tokens": answer.prompt_tokens, "completion_tokens": answer.completion_tokens}
        rejection = Rejection(code=fault.code.value, evidence=fault.evidence, **tokens)
        return _written(_described(draw, rejection, generator, seconds, feedback), rejection, directory)


def _described(
    draw: Draw, answer: Candidate | Rejection, generator: str, seconds: float, feedback: Feedback | None
) -> Made:
    made = Made(
        assignment=draw.assignment,
        generator=generator,
        prompt_tokens=answer.prompt_tokens,
        completion_tokens=answer.completion_tokens,
        seconds=seconds,
        repairs=feedback.previous if feedback is not None else None,
    )
    if isinstance(answer, Rejection):
        return made.model_copy(update={"code": answer.code, "evidence": storable(answer.evidence)})
    found = {"content_hash": content_hash(answer.bundle), "realised": answer.realised, "detail": answer.detail}
    return made.model_copy(update={"candidate": draw.name, **found})


def _written(made: Made, answer: Candidate | Rejection, directory: Path) -> Made:
    with new_directory(directory, replace=True) as new:
        if isinstance(answer, Candidate):
            place = write_bundle(answer.bundle.model_copy(update={"id": BUNDLE}), new)
            if content_hash(read_bundle(place)) != made.content_hash:
                raise InvariantError("the candidate comes back from the disk as another one")
        write_text(new / MADE, redact(made.model_dump_json(indent=2)) + "\n")
    return made
