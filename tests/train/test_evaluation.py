"""From trials to figures: two denominators, nothing lost, nothing counted twice."""

from __future__ import annotations

import pytest

from envs_forge.errors import InvariantError, UserError
from envs_forge.rollout.policy import PolicyIdentity
from envs_forge.rollout.trial import Trial, TrialStatus
from envs_forge.train.evaluation import compare, evaluate_trials, shown_ks

POLICY = PolicyIdentity(kind="fake", name="fake", version="1")
TASKS = {"a": "task-a", "b": "task-b"}


def trial(task: str, index: int, status: TrialStatus, reward: float | None = None, retry: int = 0) -> Trial:
    return Trial(
        bundle_id=task, bundle_hash=task, policy=POLICY, index=index, retry=retry, seed=0, status=status,
        reward=reward, started_at="", duration_s=0.0,
    )  # fmt: skip


def passed(task: str, index: int) -> Trial:
    return trial(task, index, TrialStatus.PASSED, 1.0)


def failed(task: str, index: int) -> Trial:
    return trial(task, index, TrialStatus.FAILED, 0.0)


def test_both_denominators() -> None:
    trials = [passed("a", 0), passed("a", 1), trial("a", 2, TrialStatus.AGENT_ERROR), failed("a", 3)]
    trials += [failed("b", index) for index in range(4)]
    found = evaluate_trials(TASKS, trials, 4)
    valid, everything = found.valid.pass_at[1], found.all_trials.pass_at[1]
    assert valid is not None
    assert everything is not None
    assert valid.value == pytest.approx((2 / 3 + 0) / 2)
    assert everything.value == pytest.approx((2 / 4 + 0) / 2)
    assert (found.valid.rollouts, found.all_trials.rollouts, found.missing) == (7, 8, 0)


def test_a_task_without_enough_valid_rollouts_is_told_not_guessed() -> None:
    trials = [passed("a", 0), *(trial("a", index, TrialStatus.VERIFIER_ERROR) for index in (1, 2, 3))]
    trials += [passed("b", index) for index in range(4)]
    found = evaluate_trials(TASKS, trials, 4)
    assert found.valid.without == {1: 0, 2: 1, 4: 1}
    assert found.all_trials.without == {1: 0, 2: 0, 4: 0}


def test_a_machine_fault_that_was_retried_counts_once() -> None:
    trials = [trial("a", 0, TrialStatus.MACHINE_ERROR), trial("a", 0, TrialStatus.PASSED, 1.0, retry=1)]
    found = evaluate_trials({"a": "task-a"}, trials, 1)
    assert found.tasks[0].rollouts == found.tasks[0].valid == found.tasks[0].passed == 1


def test_what_was_not_run_is_missing_and_no_failure() -> None:
    found = evaluate_trials(TASKS, [passed("a", 0)], 2)
    assert found.missing == 3
    assert found.all_trials.rollouts == 1


def test_partial_rewards_are_no_success() -> None:
    found = evaluate_trials({"a": "task-a"}, [trial("a", 0, TrialStatus.PARTIAL, 0.75)], 1)
    assert found.valid.pass_at[1] is not None
    assert found.valid.pass_at[1].value == 0.0
    assert found.valid.mean_reward is not None
    assert found.valid.mean_reward.value == 0.75


def test_nothing_valid_has_no_figure() -> None:
    found = evaluate_trials({"a": "task-a"}, [trial("a", 0, TrialStatus.BUILD_ERROR)], 1)
    assert found.valid.pass_at[1] is None
    assert found.valid.mean_reward is None
    assert found.all_trials.pass_at[1] is not None


def test_comparison_is_paired_by_task() -> None:
    one = evaluate_trials(TASKS, [passed("a", 0), failed("b", 0)], 1)
    other = evaluate_trials({**TASKS, "c": "task-c"}, [failed("a", 0), failed("b", 0), passed("c", 0)], 1)
    found = compare(one, other).valid
    assert found is not None
    assert found.difference.value == pytest.approx(0.5)
    assert (found.better, found.equal, found.worse, found.unpaired) == (1, 1, 0, 1)
    assert compare(one, evaluate_trials({"c": "c"}, [passed("c", 0)], 1)).valid is None


def test_strangers_and_emptiness_are_refused() -> None:
    with pytest.raises(InvariantError, match="not evaluated"):
        evaluate_trials({"a": "task-a"}, [passed("b", 0)], 1)
    with pytest.raises(UserError, match="no task"):
        evaluate_trials({}, [], 1)


def test_shown_ks() -> None:
    assert [shown_ks(attempts) for attempts in (1, 4, 6)] == [[1], [1, 2, 4], [1, 2, 4, 6]]
