"""The builtin learner: policy gradient with group-relative advantages.

A step takes a batch of B tasks, G rollouts each, and moves the weights by

    rate · 1/(B·G) · Σ_groups Σ_i A_i · ∇ log π(a_i)        log π(a) = Σ over the clauses of log p(way taken)

which is GRPO's gradient at the policy that drew the rollouts: one update a batch, so the importance ratio is 1 and its
clipping never acts; no KL term, no division by length. A group with equal rewards adds nothing, a dropped one neither;
B stays what it is, so that a group weighs the same whatever came with it.

The order of the tasks and every choice follow from the settings' seed, the tasks' contents and the place in the order,
so the same rewards give the same weights, wherever training was stopped and taken up again.
"""

from __future__ import annotations

import math
import random
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count, islice

from pydantic import BaseModel, ConfigDict

from envs_forge.bundle.model import Bundle
from envs_forge.errors import InfrastructureError, UserError
from envs_forge.train.advantages import GroupKind, group_advantages, kind_of
from envs_forge.train.builtin.sampler import Sample, Sampler
from envs_forge.train.builtin.settings import LearnerSettings
from envs_forge.train.rewards.deed import Deed
from envs_forge.train.rewards.source import Rewards


@dataclass(frozen=True)
class TrainingTask:
    """A task and its identity."""

    bundle: Bundle
    hash: str


class StepMetrics(BaseModel):
    """One step. Everything but `seconds` and the counts of containers follows from seed, tasks and rewards."""

    model_config = ConfigDict(frozen=True)

    step: int
    """From 1."""
    groups: int
    mixed: int
    all_failed: int
    all_passed: int
    all_equal: int
    dropped: int
    rollouts: int
    """Rollouts of the batch, those of dropped groups among them."""
    mean_reward: float | None
    """Over the rollouts that have a reward."""
    gradient_norm: float
    contained: int
    """Rewards that took a container."""
    seconds: float


Group = Sequence[float | None]
"""Rewards of one group; None where no container gave one."""


class Learner:
    """Trains one policy on some tasks.

    Args:
        tasks: What to train on; their order does not matter.
        sampler: The policy; its weights are moved.
        rewards: Where rewards come from.
        settings: How.

    Raises:
        UserError: There is no task.
    """

    def __init__(
        self, tasks: Sequence[TrainingTask], sampler: Sampler, rewards: Rewards, settings: LearnerSettings
    ) -> None:
        if not tasks:
            raise UserError("there is nothing to train on")
        self.sampler, self.settings = sampler, settings
        self._rewards = rewards
        self._order = visits(tasks, settings)

    @property
    def steps(self) -> int:
        """How many steps the whole training has."""
        return math.ceil(len(self._order) / self.settings.batch)

    def step(self, number: int) -> StepMetrics:
        """Do step `number`, from 0.

        Raises:
            StoppedError: Told to stop; the weights are as before the step.
            InfrastructureError: The machine spoilt every group; the same.
        """
        began, before = time.monotonic(), self._rewards.counts.contained
        first = number * self.settings.batch
        visited = list(enumerate(self._order))[first : first + self.settings.batch]
        samples = [self._samples(task, place) for place, task in visited]
        groups = self._rewarded([task for _, task in visited], samples)
        if all(kind_of(group) is GroupKind.DROPPED for group in groups) and self._rewards.broken:
            raise InfrastructureError(f"no reward at all in step {number + 1}; the last: {self._rewards.last_error}")
        slope = self._slope(samples, groups)
        self.sampler.move(slope, self.settings.rate)
        return _metrics(
            number + 1, groups, slope, self._rewards.counts.contained - before, seconds=time.monotonic() - began
        )

    def _rewarded(self, tasks: Sequence[TrainingTask], samples: Sequence[Sequence[Sample]]) -> list[Group]:
        """The rewards of each group; all deeds of a batch are asked for at once."""
        deeds = [
            Deed(task.bundle, task.hash, sample.commands)
            for task, group in zip(tasks, samples, strict=True)
            for sample in group
        ]
        rewards = self._rewards.of(deeds)
        return [rewards[at : at + self.settings.group] for at in range(0, len(rewards), self.settings.group)]

    def _samples(self, task: TrainingTask, place: int) -> list[Sample]:
        label = f"train/{self.settings.seed}/{place}/{task.hash}"
        return [
            self.sampler.sample(task.bundle.instruction, random.Random(f"{label}/{i}"))
            for i in range(self.settings.group)
        ]

    def _slope(
        self, samples: Sequence[Sequence[Sample]], rewards: Sequence[Sequence[float | None]]
    ) -> dict[str, float]:
        """The mean gradient of a batch."""
        slope: dict[str, float] = {}
        weight = 1.0 / (self.settings.batch * self.settings.group)
        for group, given in zip(samples, rewards, strict=True):
            valid = [reward for reward in given if reward is not None]
            if len(valid) < len(given) or kind_of(given) is not GroupKind.MIXED:
                continue
            for sample, advantage in zip(group, group_advantages(valid, scaled=self.settings.scaled), strict=True):
                self.sampler.add_gradient(slope, sample, weight * advantage)
        return slope


def visits(tasks: Sequence[TrainingTask], settings: LearnerSettings) -> list[TrainingTask]:
    """The tasks in the order in which they are visited: each epoch in another one, none of them that of the files."""
    known = sorted(tasks, key=lambda task: task.hash)
    wanted = settings.groups if settings.groups is not None else settings.epochs * len(known)

    def shuffled(epoch: int) -> list[TrainingTask]:
        dice = random.Random(f"order/{settings.seed}/{epoch}")
        return sorted(known, key=lambda task: dice.random())

    return list(islice((task for epoch in count() for task in shuffled(epoch)), wanted))


def _metrics(
    step: int, groups: Sequence[Group], slope: Mapping[str, float], contained: int, *, seconds: float
) -> StepMetrics:
    kinds = Counter(kind_of(group) for group in groups)
    valid = [reward for group in groups for reward in group if reward is not None]
    return StepMetrics(
        step=step,
        groups=len(groups),
        mixed=kinds[GroupKind.MIXED],
        all_failed=kinds[GroupKind.ALL_FAILED],
        all_passed=kinds[GroupKind.ALL_PASSED],
        all_equal=kinds[GroupKind.ALL_EQUAL],
        dropped=kinds[GroupKind.DROPPED],
        rollouts=sum(map(len, groups)),
        mean_reward=math.fsum(valid) / len(valid) if valid else None,
        gradient_norm=math.sqrt(math.fsum(value * value for value in slope.values())),
        contained=contained,
        seconds=seconds,
    )
