"""Which ends of an attempt enter n, as configured."""

import pytest

from envs_forge.rollout.measure import MeasureOptions, measure
from envs_forge.rollout.policy import Attempt, StopReason
from envs_forge.rollout.runner import TrialOptions, run_trial
from envs_forge.rollout.trial import COUNTED, JUDGED, OPTIONAL, TrialStatus, recounted
from envs_forge.sandbox.verification import RewardFault, Verification

from .fakes import FakePolicy, FakeRuntime, bundle

ENDS = {
    TrialStatus.AGENT_TIMEOUT: StopReason.TIMEOUT,
    TrialStatus.CONTEXT_EXCEEDED: StopReason.CONTEXT,
    TrialStatus.AGENT_ERROR: StopReason.ERROR,
}


def once(stopped, reward, counted):
    runtime = FakeRuntime({"b": reward})
    policy = FakePolicy(Attempt(stopped=stopped, error="told"))
    return run_trial(runtime, runtime.prepare(bundle("b")), policy, index=0, options=TrialOptions(counted=counted))


@pytest.mark.parametrize("status", OPTIONAL)
@pytest.mark.parametrize("counts", [True, False])
def test_an_end_counts_with_the_reward_of_what_was_left_or_not_at_all(status, counts):
    trial = once(ENDS[status], 0.25, JUDGED | ({status} if counts else set()))
    assert trial.status == status
    assert trial.reward == (0.25 if counts else None)
    assert trial.counted is counts


def test_without_a_proper_reward_nothing_counts():
    broken = Verification(reward=None, fault=RewardFault.MISSING)
    for stopped in StopReason:
        trial = once(stopped, broken, frozenset(TrialStatus))
        assert (trial.reward, trial.counted) == (None, False)


def test_an_agent_error_is_not_judged_where_it_does_not_count():
    assert once(StopReason.ERROR, 1.0, COUNTED).verification is None


def test_a_trial_is_counted_anew_by_other_rules():
    trial = once(StopReason.TIMEOUT, 1.0, COUNTED)
    assert trial.reward == 1.0
    assert recounted(trial, JUDGED).reward is None
    assert recounted(recounted(trial, JUDGED), COUNTED) == trial
    assert recounted(trial, COUNTED) is trial


def test_a_rate_says_how_its_trials_ended():
    ends = iter([StopReason.TIMEOUT, StopReason.CONTEXT, StopReason.DONE, StopReason.ERROR])
    policy = FakePolicy(lambda sandbox: Attempt(stopped=next(ends)))
    options = MeasureOptions(rollouts=4, concurrency=1)
    (rate,) = measure(FakeRuntime({"b": 0.0}), [bundle("b")], policy, options)
    assert (rate.n, rate.invalid) == (2, 2)
    assert rate.statuses == {"agent-timeout": 1, "context-exceeded": 1, "failed": 1, "agent-error": 1}
