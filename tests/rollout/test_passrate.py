import pytest

from envs_forge.errors import InvariantError
from envs_forge.rollout.passrate import jeffreys_interval, pass_rate
from envs_forge.rollout.policy import PolicyIdentity
from envs_forge.rollout.trial import COUNTED, Trial, TrialStatus

POLICY = PolicyIdentity(kind="nop", name="nop", version="1")


def trial(index, status="passed", reward=1.0, *, retry=0, policy=POLICY, bundle_hash="h"):
    return Trial(
        bundle_id="b",
        bundle_hash=bundle_hash,
        policy=policy,
        index=index,
        retry=retry,
        seed=1,
        status=status,
        reward=reward,
        started_at="2025-01-01T00:00:00+00:00",
        duration_s=0.1,
    )


def test_only_counted_trials_enter_n():
    rate = pass_rate(
        "b",
        "h",
        [
            trial(0),
            trial(1, "failed", 0.0),
            trial(2, "partial", 0.5),
            trial(3, "agent-timeout", 0.0),
            trial(4, "machine-error", None),
            trial(5, "verifier-error", None),
        ],
    )
    assert (rate.k, rate.n, rate.invalid) == (1.5, 4, 2)
    assert rate.rate == pytest.approx(0.375)
    assert (rate.low, rate.high) == jeffreys_interval(1.5, 4)
    assert rate.low < rate.rate < rate.high


def test_a_retried_machine_fault_is_invalid_and_its_rollout_still_counts_once():
    rate = pass_rate("b", "h", [trial(0, "machine-error", None), trial(0, "passed", 1.0, retry=1)])
    assert (rate.k, rate.n, rate.invalid) == (1.0, 1, 1)


def test_nothing_counted_is_no_rate_and_the_prior_interval():
    rate = pass_rate("b", "h", [trial(0, "build-error", None)])
    assert (rate.n, rate.rate, rate.invalid) == (0, None, 1)
    assert rate.low == pytest.approx(0.00154, abs=1e-5)
    assert rate.high == pytest.approx(0.99846, abs=1e-5)


def test_nought_of_eight_is_not_impossible():
    rate = pass_rate("b", "h", [trial(i, "failed", 0.0) for i in range(8)])
    assert rate.rate == 0.0
    assert rate.high == pytest.approx(0.2622, abs=1e-4)
    assert rate.low > 0.0


def test_the_same_try_given_twice_counts_once():
    assert pass_rate("b", "h", [trial(0), trial(0), trial(1)]).n == 2


def test_two_counted_tries_at_one_index_are_a_defect():
    with pytest.raises(InvariantError, match="counted twice"):
        pass_rate("b", "h", [trial(0), trial(0, retry=1)])


def test_bundles_and_policies_are_never_pooled():
    other = PolicyIdentity(kind="nop", name="nop", version="2")
    with pytest.raises(InvariantError, match="mixes"):
        pass_rate("b", "h", [trial(0), trial(1, policy=other)])
    with pytest.raises(InvariantError, match="mixes"):
        pass_rate("b", "h", [trial(0, bundle_hash="g")])


@pytest.mark.parametrize("reward", [None, float("nan"), float("inf"), -0.5, 1.5])
@pytest.mark.parametrize("status", sorted(COUNTED))
def test_a_counted_trial_needs_a_proper_reward(status, reward):
    if status == "agent-timeout" and reward is None:
        assert pass_rate("b", "h", [trial(0, status, reward)]).invalid == 1  # left out by the config
        return
    with pytest.raises(InvariantError):
        pass_rate("b", "h", [trial(0, status, reward)])


def test_machine_statuses_never_count():
    assert not COUNTED & {TrialStatus.MACHINE_ERROR, TrialStatus.ENDPOINT_ERROR, TrialStatus.BUILD_ERROR}
