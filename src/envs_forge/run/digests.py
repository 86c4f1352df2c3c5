"""How the policy's failing rollouts on each seed failed, for generators: as text for a prompt, and which tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import BaseModel, ConfigDict

from envs_forge.rollout.digest.build import digest
from envs_forge.rollout.digest.model import FailureDigest
from envs_forge.rollout.digest.text import render
from envs_forge.rollout.trial import Trial
from envs_forge.run.journal import Journal
from envs_forge.run.seeds import Seed
from envs_forge.synthesis.generator import Assignment

CHARACTERS = 1000


class Failures(BaseModel):
    """How rollouts on one seed failed.

    Attributes:
        text: The digest, for a prompt.
        tests: In which share of the rollouts each test failed, of those that failed most often.
    """

    model_config = ConfigDict(frozen=True)

    text: str = ""
    tests: Mapping[str, float] = {}

    def told(self, assignment: Assignment) -> Assignment:
        """An assignment on that seed that speaks of them."""
        return assignment.model_copy(update={"digest": self.text, "failed": self.tests})


def failures(seeds: Sequence[Seed], journal: Journal) -> Mapping[str, Failures]:
    """The failures on each seed that has failing rollouts, by content hash."""
    trials: dict[str, list[Trial]] = {seed.hash: [] for seed in seeds}
    for trial in journal.trials():
        if trial.bundle_hash in trials:
            trials[trial.bundle_hash].append(trial)
    found = {hash_: digest(own) for hash_, own in trials.items() if own}
    return {hash_: _of(one) for hash_, one in found.items() if one.failing}


def _of(one: FailureDigest) -> Failures:
    rollouts = max(one.n, one.failing)
    shares = {test.name: test.rollouts / rollouts for test in one.tests}
    return Failures(text=render(one, most=CHARACTERS), tests=shares)
