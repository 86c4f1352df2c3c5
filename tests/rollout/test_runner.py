import pytest

from envs_forge.bundle.hashing import content_hash
from envs_forge.rollout.identity import trial_seed
from envs_forge.rollout.policies.nop import NopPolicy
from envs_forge.rollout.policies.oracle import OraclePolicy
from envs_forge.rollout.policy import Attempt, StopReason
from envs_forge.rollout.runner import TrialOptions, run_trial
from envs_forge.sandbox.verification import Isolation, RewardFault, Verification

from .fakes import FakePolicy, FakeRuntime, bundle, engine_died


def run(verdict=1.0, policy=None, *, of=None, **more):
    runtime = FakeRuntime({"b": verdict})
    trial = run_trial(runtime, runtime.prepare(of or bundle("b")), policy or FakePolicy(), index=3, **more)
    assert runtime.alive == 0
    return trial, runtime


@pytest.mark.parametrize(("reward", "status"), [(1.0, "passed"), (0.0, "failed"), (0.25, "partial"), (1e-9, "partial")])
def test_rewards_become_statuses(reward, status):
    trial, _ = run(reward)
    assert (trial.status, trial.reward) == (status, reward)


@pytest.mark.parametrize("fault", list(RewardFault))
def test_no_reward_fault_is_ever_read_as_nought(fault):
    trial, _ = run(Verification(reward=None, fault=fault, output_tail="why"))
    assert (trial.status, trial.reward, trial.error) == ("verifier-error", None, str(fault))
    assert trial.verification.output_tail == "why"


@pytest.mark.parametrize("reward", [0.0, 1.0])
def test_a_time_out_is_verified_like_any_other_end(reward):
    trial, _ = run(reward, FakePolicy(Attempt(stopped=StopReason.TIMEOUT)))
    assert (trial.status, trial.reward) == ("agent-timeout", reward)


def test_giving_up_is_verified():
    assert run(0.0, FakePolicy(Attempt(stopped=StopReason.GAVE_UP)))[0].status == "failed"


def test_an_agent_error_is_not_verified_and_has_no_reward():
    trial, runtime = run(0.0, FakePolicy(Attempt(stopped=StopReason.ERROR, error="exit code 3")))
    assert (trial.status, trial.reward, trial.error) == ("agent-error", None, "exit code 3")
    assert ("verify", "b") not in runtime.calls


def test_a_defect_of_the_policy_is_an_agent_error():
    trial, _ = run(0.0, FakePolicy(lambda sandbox: ValueError("oops")))
    assert (trial.status, trial.error) == ("agent-error", "ValueError: oops")


def test_a_machine_fault_in_the_verifier_keeps_the_attempt():
    trial, _ = run(engine_died("disk-full"))
    assert (trial.status, trial.reward) == ("machine-error", None)
    assert trial.error.startswith("disk-full: ")
    assert trial.attempt.stopped is StopReason.DONE


@pytest.mark.parametrize(
    ("code", "status"),
    [("engine", "machine-error"), ("endpoint", "endpoint-error"), ("endpoint-timeout", "endpoint-error")],
)
def test_machines_and_endpoints_are_told_apart(code, status):
    trial, _ = run(1.0, FakePolicy(lambda sandbox: engine_died(code)))
    assert (trial.status, trial.reward) == (status, None)


def test_a_defect_of_ours_is_never_a_reward():
    trial, _ = run(KeyError("gone"))
    assert (trial.status, trial.reward) == ("machine-error", None)
    assert "KeyError" in trial.error
    assert "fakes.py" in trial.error


def test_the_policy_is_told_the_task_and_nothing_else():
    policy = FakePolicy()
    trial, _ = run(policy=policy, options=TrialOptions(timeout_factor=0.5))
    (told,) = policy.told
    assert told.model_dump() == {"instruction": "Do b.\n", "workdir": "/srv", "timeout_s": 20.0}
    assert policy.seeds == [trial.seed] == [trial_seed(content_hash(bundle("b")), policy.identity, 3)]
    assert trial.index == 3


def test_the_time_is_capped_after_the_factor():
    policy = FakePolicy()
    run(policy=policy, options=TrialOptions(timeout_factor=10, timeout_cap_s=60.0))
    assert policy.told[0].timeout_s == 60.0


def test_a_retry_has_the_same_seed():
    first, second = (run(retry=retry)[0] for retry in (0, 2))
    assert first.seed == second.seed
    assert second.retry == 2


@pytest.mark.parametrize(
    ("metadata", "isolation"),
    [({}, Isolation.FRESH), ({"isolation": "live"}, Isolation.LIVE), ({"isolation": "odd"}, Isolation.FRESH)],
)
def test_isolation_is_what_gold_verification_found(metadata, isolation):
    _, runtime = run(of=bundle("b", metadata=metadata))
    assert runtime.isolations == [isolation]


def test_the_oracle_runs_the_solution_through_the_runtime():
    trial, _ = run(policy=OraclePolicy())
    assert trial.status == "passed"
    assert trial.attempt.steps[0].output == "solved\n"


def test_nop_does_nothing():
    trial, runtime = run(0.0, NopPolicy())
    assert (trial.status, trial.attempt.steps) == ("failed", ())
    assert [what for what, _ in runtime.calls] == ["prepare", "open", "verify"]
