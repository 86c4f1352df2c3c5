"""The figures of a training, counted from its steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

from envs_forge.train.builtin.learner import StepMetrics

_SUMS = ("rollouts", "contained", "groups", "mixed", "all_failed", "all_passed", "all_equal", "dropped")


class TrainingResult(BaseModel):
    """The figures of a training."""

    model_config = ConfigDict(frozen=True)

    schema_version: int = 1
    state: Literal["done", "open"]
    steps: int
    of_steps: int
    rollouts: int
    contained: int
    groups: int
    mixed: int
    all_failed: int
    all_passed: int
    all_equal: int
    dropped: int
    curve: tuple[float | None, ...]
    """Mean reward of the rollouts of each pass over the tasks, as the policy was then."""
    audits: int
    mismatches: tuple[str, ...]
    """Contents on which two containers gave one deed different rewards."""
    seconds: float


def training_result(
    metrics: Sequence[StepMetrics], *, of_steps: int, tasks: int, audits: int, mismatches: Sequence[str]
) -> TrainingResult:
    """Count everything.

    Args:
        metrics: The steps that were done.
        of_steps: How many there are.
        tasks: How many tasks a pass visits.
        audits: Rewards that were checked again.
        mismatches: Contents on which that gave another one.
    """
    return TrainingResult(
        state="done" if len(metrics) == of_steps else "open",
        steps=len(metrics),
        of_steps=of_steps,
        **{name: sum(getattr(line, name) for line in metrics) for name in _SUMS},
        curve=_curve(metrics, tasks),
        audits=audits,
        mismatches=tuple(mismatches),
        seconds=sum(line.seconds for line in metrics),
    )


def _curve(metrics: Sequence[StepMetrics], tasks: int) -> tuple[float | None, ...]:
    """Mean rewards by pass over the tasks; a step belongs to the pass in which it began."""
    passes: dict[int, list[StepMetrics]] = {}
    groups = 0
    for line in metrics:
        passes.setdefault(groups // tasks, []).append(line)
        groups += line.groups
    return tuple(_mean(lines) for _, lines in sorted(passes.items()))


def _mean(lines: Sequence[StepMetrics]) -> float | None:
    known = [(line.mean_reward, line.rollouts) for line in lines if line.mean_reward is not None]
    rollouts = sum(count for _, count in known)
    return sum(mean * count for mean, count in known) / rollouts if rollouts else None
