"""How often a sampler's readings pass: rewards of samples that nothing is learned from."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence

from pydantic import BaseModel, ConfigDict

from envs_forge.errors import InfrastructureError
from envs_forge.train.builtin.learner import TrainingTask
from envs_forge.train.builtin.sampler import Sampler
from envs_forge.train.rewards.deed import Deed
from envs_forge.train.rewards.source import Rewards


class Tally(BaseModel):
    """Rollouts on one task: `n` have a reward, `passed` of them the full one, `k` is the sum.

    `failed` tells in which share of the `n` each test failed, where rewards are remembered with that.
    """

    model_config = ConfigDict(frozen=True)

    n: int
    passed: int
    k: float
    failed: Mapping[str, float] = {}


def tally(sampler: Sampler, tasks: Sequence[TrainingTask], rewards: Rewards, attempts: int, label: str) -> list[Tally]:
    """Let the sampler attempt every task so often.

    Args:
        sampler: Who; not moved.
        tasks: What.
        rewards: Where rewards come from.
        attempts: How often.
        label: Names the luck: equal labels give two policies equal dice, so that their difference is less noisy.

    Raises:
        InfrastructureError: The machine spoilt every rollout of some task.
    """
    deeds = [
        Deed(task.bundle, task.hash, sampler.sample(task.bundle.instruction, _dice(label, task, number)).commands)
        for task in tasks
        for number in range(attempts)
    ]
    found = rewards.of(deeds)
    groups = (found[at : at + attempts] for at in range(0, len(found), attempts))
    names = [() if reward in (None, 1.0) else rewards.failed(deed) for deed, reward in zip(deeds, found, strict=True)]
    tallies = [
        _tally([reward for reward in group if reward is not None], names[at * attempts : (at + 1) * attempts])
        for at, group in enumerate(groups)
    ]
    if rewards.broken and not all(found.n for found in tallies):
        raise InfrastructureError(f"a task without a reward; the last: {rewards.last_error}")
    return tallies


def _dice(label: str, task: TrainingTask, number: int) -> random.Random:
    return random.Random(f"{label}/{task.hash}/{number}")


def _tally(rewards: Sequence[float], failed: Sequence[Sequence[str]]) -> Tally:
    counts = Counter(name for names in failed for name in names)
    return Tally(
        n=len(rewards),
        passed=sum(reward == 1.0 for reward in rewards),
        k=sum(rewards),
        failed={name: count / len(rewards) for name, count in sorted(counts.items())},
    )
