"""One cell of the grid: an arm chooses, makes, trains and is evaluated, at the same cost as every other."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from pydantic import BaseModel, ConfigDict

from envs_forge.study.block import Block, saturated
from envs_forge.study.choosing import Environment
from envs_forge.study.config import ArmConfig
from envs_forge.study.course import Course
from envs_forge.train.builtin.learner import StepMetrics
from envs_forge.train.builtin.measuring import Tally


class Child(BaseModel):
    """An accepted environment: what the plan thought, and what the reader that it was made for makes of it."""

    model_config = ConfigDict(frozen=True)

    content_hash: str
    action: str
    seed_k: float
    seed_n: int
    predicted: float
    k: float
    n: int


class Look(BaseModel):
    """The policy at some point of its training."""

    model_config = ConfigDict(frozen=True)

    rollouts: int
    """Spent so far, with those that measured."""
    pass_at_1: float


class CellResult(BaseModel):
    """One cell. Rates are over the rollouts that have a reward."""

    model_config = ConfigDict(frozen=True)

    schema_version: int = 1
    regime: str
    reader: str
    replicate: int
    arm: str
    pool_saturated: float
    """Share of the pool's seeds that the measurement saw always fail or always pass."""
    accepted: int
    attempts: int
    plans: int
    rejections: Mapping[str, int]
    objective: float
    """Of the last plans of all rounds."""
    measuring: int
    """Rollouts that measuring cost this arm."""
    training: int
    """Rollouts of its training."""
    groups: int
    mixed: int
    first_groups: int
    """Groups of the first pass."""
    first_mixed: int
    dropped: int
    base: float
    trained: float
    """Pass@1 on the held-out tasks."""
    held_out: Sequence[tuple[float, float]]
    """Each held-out task's rate before and after."""
    looks: Sequence[Look]
    children: Sequence[Child]
    seconds: float


def run_cell(block: Block, arm: ArmConfig) -> CellResult:
    """Do everything that one arm does.

    Raises:
        InfrastructureError: The machine failed; nothing of it counts as a reward.
    """
    began = time.monotonic()
    course = Course(block, arm)
    course.run()
    return _result(block, arm, course, seconds=time.monotonic() - began)


def _result(block: Block, arm: ArmConfig, course: Course, *, seconds: float) -> CellResult:
    rates = block.rates(block.ground.config.rollouts)
    metrics, after = course.metrics, course.looks[-1][1]
    first = _first_pass(metrics, len(course.environments))
    return CellResult(
        regime=block.regime.name,
        reader=block.reader.name,
        replicate=block.replicate,
        arm=arm.name,
        pool_saturated=sum(map(saturated, rates)) / len(rates),
        accepted=len(course.environments),
        attempts=sum(made.attempts for made in course.made),
        plans=sum(made.plans for made in course.made),
        rejections=course.rejections,
        objective=sum(made.objective for made in course.made),
        measuring=course.measuring,
        training=course.training,
        groups=sum(step.groups for step in metrics),
        mixed=sum(step.mixed for step in metrics),
        first_groups=sum(step.groups for step in first),
        first_mixed=sum(step.mixed for step in first),
        dropped=sum(step.dropped for step in metrics),
        base=pass_at_1(block.base),
        trained=pass_at_1(after),
        held_out=[(_rate(old), _rate(new)) for old, new in zip(block.base, after, strict=True)],
        looks=[Look(rollouts=spent, pass_at_1=pass_at_1(found)) for spent, found in course.looks],
        children=[_child(*pair) for pair in zip(course.environments, course.children, strict=True)],
        seconds=seconds,
    )


def _child(environment: Environment, rate: Tally) -> Child:
    choice = environment.choice
    return Child(
        content_hash=environment.task.hash,
        action=str(choice.action),
        seed_k=choice.k,
        seed_n=choice.n,
        predicted=choice.predicted,
        k=rate.k,
        n=rate.n,
    )


def _first_pass(metrics: Sequence[StepMetrics], tasks: int) -> list[StepMetrics]:
    """The steps that lie within the first visit to every task."""
    found: list[StepMetrics] = []
    for step in metrics:
        if sum(other.groups for other in found) + step.groups > tasks:
            break
        found.append(step)
    return found


def pass_at_1(tallies: Sequence[Tally]) -> float:
    """Mean over the tasks that have a rollout with a reward."""
    rates = [_rate(found) for found in tallies if found.n]
    return sum(rates) / len(rates) if rates else 0.0


def _rate(found: Tally) -> float:
    return found.passed / found.n if found.n else 0.0
