"""Learning from real containers: what is on the frontier teaches, what always fails or always passes does not."""

from __future__ import annotations

import random

import pytest

from envs_forge.rollout.policies.builtin.parameters import BuiltinParameters, preset
from envs_forge.sandbox.runtime import Runtime, open_runtime
from envs_forge.train.builtin.learner import Learner, StepMetrics, TrainingTask
from envs_forge.train.builtin.sampler import Sampler
from envs_forge.train.builtin.settings import LearnerSettings
from envs_forge.train.rewards.containers import Containers
from envs_forge.train.rewards.deed import Deed
from envs_forge.train.rewards.source import Rewards
from envs_forge.train.rewards.store import RewardStore

from .builtin.truth import pool, right_commands

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def sandboxes() -> Runtime:
    with open_runtime("auto") as opened:
        yield opened


@pytest.fixture(scope="module")
def rewards(sandboxes: Runtime, tmp_path_factory: pytest.TempPathFactory) -> Rewards:
    """Remembered for the module, each first from a container, every other one checked again."""
    with RewardStore(tmp_path_factory.mktemp("rewards") / "r.sqlite") as store:
        yield Rewards(Containers(sandboxes), store, engine=sandboxes.engine.name, audit_one_in=2)


def certain(task: TrainingTask, right: bool) -> BuiltinParameters:
    """A reader who, of this task, always does everything right, or gets its first step always wrong."""
    sampler = Sampler(preset("medium"))
    for number in range(200):
        sample = sampler.sample(task.bundle.instruction, random.Random(f"look/{number}"))
        if (sample.commands == right_commands(task.bundle.instruction)) is right:
            slope: dict[str, float] = {}
            sampler.add_gradient(slope, sample, 1.0)
            sampler.move(slope, 100.0)
            return sampler.parameters
    raise AssertionError("this reader never does that")


def frontier() -> TrainingTask:
    """A short task that the medium reader does right about every other time."""
    for task in pool():
        sampler = Sampler(preset("medium"))
        samples = [sampler.sample(task.bundle.instruction, random.Random(str(number))) for number in range(40)]
        passed = sum(sample.commands == right_commands(task.bundle.instruction) for sample in samples)
        if 12 <= passed <= 28 and len({sample.commands for sample in samples}) <= 4:
            return task
    raise AssertionError("no such task in the pool")


def train(
    task: TrainingTask, start: BuiltinParameters, rewards: Rewards
) -> tuple[BuiltinParameters, list[StepMetrics]]:
    learner = Learner([task], Sampler(start), rewards, LearnerSettings(groups=8, batch=1))
    metrics = [learner.step(number) for number in range(learner.steps)]
    return learner.sampler.parameters, metrics


def measured(task: TrainingTask, parameters: BuiltinParameters, rewards: Rewards) -> float:
    sampler = Sampler(parameters)
    samples = [sampler.sample(task.bundle.instruction, random.Random(f"m/{number}")) for number in range(40)]
    found = rewards.of([Deed(task.bundle, task.hash, sample.commands) for sample in samples])
    return sum(reward for reward in found if reward is not None) / 40


def test_the_pass_rate_rises_on_the_frontier(rewards: Rewards) -> None:
    task, start = frontier(), preset("medium")
    before = measured(task, start, rewards)
    trained, metrics = train(task, start, rewards)
    assert sum(step.mixed for step in metrics) >= 1
    assert measured(task, trained, rewards) > before + 0.2
    counts = rewards.counts
    assert (counts.mismatches, counts.invalid) == (0, 0)
    assert counts.contained <= 12 < counts.remembered
    assert counts.audits > 0


@pytest.mark.parametrize(("right", "reward"), [(False, 0.0), (True, 1.0)])
def test_nothing_is_learned_where_all_fail_or_all_pass(rewards: Rewards, right: bool, reward: float) -> None:
    task = frontier()
    start = certain(task, right)
    trained, metrics = train(task, start, rewards)
    assert {step.mean_reward for step in metrics} == {reward}
    assert trained == start


def test_a_deed_in_a_container_gets_what_its_commands_earn(sandboxes: Runtime) -> None:
    task = frontier()
    containers = Containers(sandboxes)
    right = containers(Deed(task.bundle, task.hash, right_commands(task.bundle.instruction)))
    assert (right.reward, right.lasting) == (1.0, True)
    assert containers(Deed(task.bundle, task.hash, ())).reward == 0.0
    assert containers(Deed(task.bundle, task.hash, ("exit 3",))).reward == 0.0
