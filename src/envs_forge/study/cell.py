"""One cell of the grid: an arm chooses, makes, trains and is evaluated, at the same cost as every other."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from pydantic import BaseModel, ConfigDict

from envs_forge.plan.settings import Arm
from envs_forge.study.block import Block, saturated
from envs_forge.study.choosing import Environment, Made, Maker, inputs_of
from envs_forge.study.config import ArmConfig
from envs_forge.train.builtin.learner import Learner, StepMetrics, TrainingTask
from envs_forge.train.builtin.measuring import Tally


class Child(BaseModel):
    """An accepted environment: what the plan thought, and what the untrained reader makes of it."""

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
    measuring: int
    """Rollouts that measuring the pool cost this arm."""
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
    config = block.ground.config
    parents = {task.hash: task.bundle for task in block.pool}
    rollouts = arm.rollouts or config.rollouts
    rates = block.rates(rollouts)
    inputs = inputs_of(arm, block.pool, rates, block.ground.options)
    blind = arm.arm is Arm.BLIND
    told = {task.hash: rate.failed for task, rate in zip(block.pool, rates, strict=True) if arm.told and not blind}
    maker = Maker(block.ground.candidates, parents, config.draws, told)
    made = maker.make(inputs, arm.plan(config.size, block.replicate))
    measuring = 0 if blind else rollouts * len(block.pool)
    metrics, looks, after = _train(block, [environment.task for environment in made.environments], measuring)
    return _result(block, arm, made, measuring, metrics, looks, after, seconds=time.monotonic() - began)


def _train(
    block: Block, tasks: Sequence[TrainingTask], measuring: int
) -> tuple[list[StepMetrics], list[Look], list[Tally]]:
    """Train to the end of the budget, with looks at the held-out tasks on the way. Without tasks nothing happens."""
    config = block.ground.config
    metrics: list[StepMetrics] = []
    looks = [Look(rollouts=measuring, pass_at_1=pass_at_1(block.base))]
    after = block.base
    if not tasks:
        return metrics, looks, after
    groups = (config.budget(block.regime) - measuring) // config.learner.group
    settings = config.learner.model_copy(update={"groups": groups, "seed": block.replicate})
    learner = Learner(tasks, block.sampler(), block.ground.rewards, settings)
    stops = {round(learner.steps * part / config.looks) for part in range(1, config.looks + 1)}
    for number in range(learner.steps):
        metrics.append(learner.step(number))
        if number + 1 in stops:
            after = block.evaluate(learner.sampler)
            spent = measuring + sum(step.rollouts for step in metrics)
            looks.append(Look(rollouts=spent, pass_at_1=pass_at_1(after)))
    return metrics, looks, after


def _result(
    block: Block,
    arm: ArmConfig,
    made: Made,
    measuring: int,
    metrics: Sequence[StepMetrics],
    looks: Sequence[Look],
    after: Sequence[Tally],
    *,
    seconds: float,
) -> CellResult:
    rates = block.rates(block.ground.config.rollouts)
    first = _first_pass(metrics, len(made.environments))
    return CellResult(
        regime=block.regime.name,
        reader=block.reader.name,
        replicate=block.replicate,
        arm=arm.name,
        pool_saturated=sum(map(saturated, rates)) / len(rates),
        accepted=len(made.environments),
        attempts=made.attempts,
        plans=made.plans,
        rejections=made.rejections,
        objective=made.objective,
        measuring=measuring,
        training=sum(step.rollouts for step in metrics),
        groups=sum(step.groups for step in metrics),
        mixed=sum(step.mixed for step in metrics),
        first_groups=sum(step.groups for step in first),
        first_mixed=sum(step.mixed for step in first),
        dropped=sum(step.dropped for step in metrics),
        base=pass_at_1(block.base),
        trained=pass_at_1(after),
        held_out=[(_rate(old), _rate(new)) for old, new in zip(block.base, after, strict=True)],
        looks=looks,
        children=_children(block, made.environments),
        seconds=seconds,
    )


def _children(block: Block, environments: Sequence[Environment]) -> list[Child]:
    found = block.children([environment.task for environment in environments])
    return [
        Child(
            content_hash=environment.task.hash,
            action=str(environment.choice.action),
            seed_k=environment.choice.k,
            seed_n=environment.choice.n,
            predicted=environment.choice.predicted,
            k=rate.k,
            n=rate.n,
        )
        for environment, rate in zip(environments, found, strict=True)
    ]


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
