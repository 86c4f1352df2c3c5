"""How the policy's failing rollouts on each seed failed, as text for a generator's prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from envs_forge.rollout.digest.build import digest
from envs_forge.rollout.digest.text import render
from envs_forge.rollout.trial import Trial
from envs_forge.run.journal import Journal
from envs_forge.run.seeds import Seed

CHARACTERS = 1000


def failure_digests(seeds: Sequence[Seed], journal: Journal) -> Mapping[str, str]:
    """A digest of each seed that has failing rollouts, by content hash. Seeds that were never run here have none."""
    trials: dict[str, list[Trial]] = {seed.hash: [] for seed in seeds}
    for trial in journal.trials():
        if trial.bundle_hash in trials:
            trials[trial.bundle_hash].append(trial)
    found = {hash_: digest(own) for hash_, own in trials.items() if own}
    return {hash_: render(one, most=CHARACTERS) for hash_, one in found.items() if one.failing}
