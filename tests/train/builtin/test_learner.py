"""The learner without containers: determinism, what teaches and what does not, faults."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from envs_forge.errors import UserError
from envs_forge.rollout.policies.builtin.decision import gradient
from envs_forge.rollout.policies.builtin.parameters import BuiltinParameters, preset
from envs_forge.rollout.policies.builtin.policy import BuiltinPolicy
from envs_forge.rollout.trial import TrialStatus
from envs_forge.train.builtin.learner import Learner, StepMetrics, TrainingTask, visits
from envs_forge.train.builtin.sampler import Sampler
from envs_forge.train.builtin.settings import LearnerSettings
from envs_forge.train.rewards.containers import Obtain, Outcome
from envs_forge.train.rewards.deed import Deed
from envs_forge.train.rewards.source import Rewards

from .truth import obtain, pool, right_commands

TRAINED = {"way:filter_rows/do": 1.5, "stance:honour": 0.5}


def rate(parameters: BuiltinParameters, tasks: Sequence[TrainingTask], samples: int = 24) -> float:
    sampler = Sampler(parameters)
    passed = [
        sampler.sample(t.bundle.instruction, random.Random(f"{t.hash}/{i}")).commands
        == right_commands(t.bundle.instruction)
        for t in tasks
        for i in range(samples)
    ]
    return sum(passed) / len(passed)


def train(
    tasks: Sequence[TrainingTask], parameters: BuiltinParameters, source: Obtain = obtain, **settings: float
) -> tuple[BuiltinParameters, list[StepMetrics]]:
    learner = Learner(tasks, Sampler(parameters), Rewards(source, None), LearnerSettings(**settings))
    metrics = [learner.step(number) for number in range(learner.steps)]
    return learner.sampler.parameters, metrics


def test_the_sampler_reads_as_the_policy_does() -> None:
    parameters = preset("medium", weights=TRAINED, temperature=1.3)
    sampler, policy = Sampler(parameters), BuiltinPolicy(parameters)
    for task in pool(0, 12):
        dice = random.Random(f"builtin/{parameters.digest}/7")
        sample = sampler.sample(task.bundle.instruction, dice)
        jobs, _, decisions = policy.read(task.bundle.instruction, 7)
        assert sample.commands == tuple(job.command() for job in jobs)
        for choice, decision in zip(sample.choices, decisions, strict=True):
            assert choice.probabilities == pytest.approx(decision.probabilities)
            assert choice.ways[choice.chosen].id == decision.way


def test_the_gradient_is_the_decisions_own() -> None:
    parameters = preset("weak", weights=TRAINED, temperature=0.7)
    sampler, policy = Sampler(parameters), BuiltinPolicy(parameters)
    task = pool()[0]
    _, _, decisions = policy.read(task.bundle.instruction, 3)
    slope: dict[str, float] = {}
    sampler.add_gradient(
        slope, sampler.sample(task.bundle.instruction, random.Random(f"builtin/{parameters.digest}/3")), 2.0
    )
    expected: dict[str, float] = {}
    for decision in decisions:
        for name, value in gradient(decision, parameters).items():
            expected[name] = expected.get(name, 0.0) + 2.0 * value
    assert slope == pytest.approx(expected)


def test_moving_along_the_gradient_makes_a_sample_likelier() -> None:
    sampler = Sampler(preset("weak"))
    instruction = pool()[0].bundle.instruction
    first = sampler.sample(instruction, random.Random("x"))
    slope: dict[str, float] = {}
    sampler.add_gradient(slope, first, 1.0)
    before = [choice.probabilities[choice.chosen] for choice in first.choices]
    sampler.move(slope, 0.5)
    after = [sampler.probabilities(choice.ways, choice.words)[choice.chosen] for choice in first.choices]
    assert all(new > old for old, new in zip(before, after, strict=True))


def test_it_learns_on_a_frontier_pool_and_carries_some_over() -> None:
    parameters = preset("medium", seed=1)
    rates = {task.hash: rate(parameters, [task], 16) for task in pool()}
    frontier = [task for task in pool() if 0.2 <= rates[task.hash] <= 0.8][:16]
    others = [task for task in pool() if task not in frontier]
    trained, metrics = train(frontier, parameters, epochs=4)
    assert rate(trained, frontier) > rate(parameters, frontier) + 0.2
    assert rate(trained, others) > rate(parameters, others) + 0.03
    assert sum(step.mixed for step in metrics) > 0.5 * sum(step.groups for step in metrics)


@pytest.mark.parametrize("reward", [0.0, 1.0])
def test_it_learns_nothing_where_every_group_is_equal(reward: float) -> None:
    def always(deed: Deed) -> Outcome:
        return Outcome(reward=reward, status=TrialStatus.PASSED, lasting=True, duration_s=0.0)

    parameters = preset("medium")
    trained, metrics = train(pool(0, 8), parameters, always, epochs=2)
    assert trained == parameters
    assert sum(step.all_failed + step.all_passed for step in metrics) == 16
    assert {step.gradient_norm for step in metrics} == {0.0}


def test_a_group_without_all_rewards_is_dropped_and_never_counts_as_failed() -> None:
    broken = pool()[0].hash

    def faulty(deed: Deed) -> Outcome:
        if deed.bundle_hash == broken and deed.commands != right_commands(deed.bundle.instruction):
            return Outcome(reward=None, status=TrialStatus.MACHINE_ERROR, lasting=False, duration_s=0.0)
        return obtain(deed)

    with_it, metrics = train(pool(0, 6), preset("weak"), faulty, epochs=1)
    assert [step.dropped for step in metrics] == [1]
    assert metrics[0].groups == 6
    without, _ = train(pool(0, 6), preset("weak"), lambda d: obtain(d) if d.bundle_hash != broken else Outcome(
        reward=1.0, status=TrialStatus.PASSED, lasting=True, duration_s=0.0), epochs=1)  # fmt: skip
    assert with_it == without  # as if the group had taught nothing


def test_it_is_deterministic_and_blind_to_the_order_of_files() -> None:
    tasks = list(pool(0, 10))
    one, _ = train(tasks, preset("medium"), epochs=2, seed=5)
    other, _ = train(tasks[::-1], preset("medium"), epochs=2, seed=5)
    third, _ = train(tasks, preset("medium"), epochs=2, seed=6)
    assert one.digest == other.digest
    assert one.digest != third.digest


def test_training_that_was_taken_up_again_ends_the_same() -> None:
    settings = LearnerSettings(epochs=2, batch=4)
    whole = Learner(pool(0, 8), Sampler(preset("weak")), Rewards(obtain, None), settings)
    for number in range(4):
        whole.step(number)
    first = Learner(pool(0, 8), Sampler(preset("weak")), Rewards(obtain, None), settings)
    first.step(0)
    stored = BuiltinParameters.model_validate_json(first.sampler.parameters.model_dump_json())
    second = Learner(pool(0, 8), Sampler(stored), Rewards(obtain, None), settings)
    for number in (1, 2, 3):
        second.step(number)
    assert second.sampler.parameters.digest == whole.sampler.parameters.digest


def test_tasks_are_visited_equally_often_and_in_changing_order() -> None:
    tasks = pool(0, 5)
    order = visits(tasks, LearnerSettings(groups=12))
    assert [len(order), len({task.hash for task in order[:5]}), len({task.hash for task in order[5:10]})] == [12, 5, 5]
    assert order[:5] != order[5:10]


def test_nothing_to_train_on_is_the_users_mistake() -> None:
    with pytest.raises(UserError, match="nothing to train on"):
        Learner([], Sampler(preset()), Rewards(obtain, None), LearnerSettings())
