"""Small stand-ins for sandboxes, policy, generator and verifier: deterministic, counted, breakable."""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from envs_forge.bundle.hashing import content_hash
from envs_forge.bundle.model import Bundle, BundleFile
from envs_forge.bundle.reading import make_bundle
from envs_forge.bundle.writing import write_bundle
from envs_forge.gold.verdict import Decision, StageOutcome, StageResult, Verdict
from envs_forge.plan.model import ACTIONS, CandidateSkills
from envs_forge.rollout.passrate import pass_rate
from envs_forge.rollout.policy import Attempt, PolicyIdentity, StopReason
from envs_forge.rollout.trial import PassRate, Trial, TrialStatus
from envs_forge.run.parts import Parts, remembered_options
from envs_forge.run.seeds import Seed, load_seeds
from envs_forge.synthesis.generator import Assignment, Candidate, Rejection

IDENTITY = PolicyIdentity(kind="fake", name="fake", version="1")
SKILL = "operation/fake"


def bundle(name: str, text: str) -> Bundle:
    """A bundle that passes the schema check and says `text`."""
    files = {
        "instruction.md": text,
        "task.toml": 'schema_version = "1.4"\n',
        "environment/Dockerfile": "FROM ubuntu:24.04\n",
        "solution/solve.sh": "#!/bin/bash\ntrue\n",
        "tests/test.sh": "#!/bin/bash\necho 1 > /logs/verifier/reward.txt\n",
    }
    return make_bundle(name, {path: BundleFile(data=data.encode()) for path, data in files.items()})


def seeds(root: Path, count: int) -> list[Seed]:
    """Seeds on disk, `seed-0`, `seed-1` …"""
    return load_seeds([write_bundle(bundle(f"seed-{n}", f"Do {n}.\n"), root) for n in range(count)])


@dataclass
class World:
    """What the fakes do, and how often they were asked.

    Attributes:
        fate: By the text of an assignment (`<seed>/<action>/<draw>`), what becomes of the candidate: "" gold, "same"
            equal content for all that ask for it, "refused" by the generator, else the code of a rejection.
        machine_faults: How often each candidate's verification fails for the machine's reasons first.
        after: Called with the kind of every finished piece of work; raise in it to play a crash.
    """

    fate: Callable[[Assignment], str] = lambda assignment: ""
    machine_faults: Mapping[str, int] = field(default_factory=dict)
    after: Callable[[str], None] = lambda kind: None
    calls: Counter[str] = field(default_factory=Counter)
    closed: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self, key: str) -> int:
        with self.lock:
            self.calls[key] += 1
            return self.calls[key]

    def parts(self, *, workers: int = 2, rollouts: int = 2) -> Parts:
        """The fakes as the loop sees them."""
        generator = FakeGenerator(self)
        return Parts(
            engine="fake",
            workers=workers,
            policy=IDENTITY,
            generator=generator,
            options=remembered_options(generator),
            measure=FakeMeasure(self, rollouts),
            verify=FakeVerify(self),
            reap=lambda: 0,
            close=self.close,
        )

    def close(self) -> None:
        with self.lock:
            self.closed += 1


@dataclass
class FakeMeasure:
    """A policy whose reward follows from the bundle's hash and the rollout's number."""

    world: World
    rollouts: int

    def __call__(
        self,
        bundles: Sequence[Bundle],
        *,
        known: Iterable[Trial],
        on_trial: Callable[[Trial, Bundle], None],
        stop: threading.Event,
    ) -> list[PassRate]:
        trials = list(known)
        have = {(trial.bundle_hash, trial.index) for trial in trials}
        for index in range(self.rollouts):
            for one in bundles:
                if (content_hash(one), index) in have or stop.is_set():
                    continue
                trial = self.trial(one, index)
                trials.append(trial)
                on_trial(trial, one)
                self.world.count(f"trial {one.id}/{index}")
                self.world.after("trial")
        by_hash = {content_hash(one): one for one in bundles}
        return [pass_rate(one.id, h, [t for t in trials if t.bundle_hash == h]) for h, one in by_hash.items()]

    def trial(self, one: Bundle, index: int) -> Trial:
        digest = content_hash(one)
        reward = float(int(hashlib.sha256(f"{digest}{index}".encode()).hexdigest(), 16) % 2)
        return Trial(
            bundle_id=one.id,
            bundle_hash=digest,
            policy=IDENTITY,
            index=index,
            seed=index,
            status=TrialStatus.PASSED if reward else TrialStatus.FAILED,
            reward=reward,
            attempt=Attempt(stopped=StopReason.DONE, prompt_tokens=10, completion_tokens=3),
            started_at="2026-01-01T00:00:00+00:00",
            duration_s=0.01,
        )


@dataclass
class FakeGenerator:
    """Writes a bundle whose text is the assignment."""

    world: World
    name: str = "fake"

    def options(self, bundle: Bundle) -> Mapping[str, CandidateSkills | str]:
        return {str(action): CandidateSkills(required=(SKILL,)) for action in ACTIONS}

    def generate(self, assignment: Assignment, parent: Bundle) -> Candidate | Rejection:
        key = address(assignment)
        self.world.count(f"generate {key}")
        fate = self.world.fate(assignment)
        if fate == "refused":
            return Rejection(code="no-variant", evidence="as told", prompt_tokens=7, completion_tokens=1)
        text = "the same for all" if fate == "same" else f"{key} {fate}"
        self.world.after("generate")
        return Candidate(bundle=bundle("x", text), realised=(SKILL,), prompt_tokens=7, completion_tokens=5)


@dataclass
class FakeVerify:
    """Reads the candidate's fate from its text."""

    world: World

    def __call__(self, one: Bundle) -> Verdict:
        times = self.world.count(f"verify {one.id}")
        if times <= self.world.machine_faults.get(one.id, 0):
            return verdict(one, Decision.ERROR, "build", "engine")
        code = one.instruction.partition(" ")[2]
        self.world.after("verify")
        if code and code != "same for all":
            return verdict(one, Decision.REJECTED, "oracle", code)
        return verdict(one, Decision.ACCEPTED, "", "")


def verdict(one: Bundle, decision: Decision, stage: str, code: str) -> Verdict:
    """A verdict with one stage."""
    outcome = {Decision.ACCEPTED: StageOutcome.PASSED, Decision.REJECTED: StageOutcome.FAILED}
    result = StageResult(stage=stage or "oracle", outcome=outcome.get(decision, StageOutcome.ERROR), code=code)
    return Verdict(
        bundle_id=one.id,
        bundle_hash=content_hash(one),
        decision=decision,
        stage=stage,
        code=code,
        stages=(result,),
        engine="fake",
        verifier_version="1",
        duration_s=0.1,
    )


def address(assignment: Assignment) -> str:
    """`<seed>/<action>/<slot>/<draw>`."""
    return f"{assignment.seed_id}/{assignment.action}/{assignment.slot}/{assignment.draw}"
