"""The scheduler, against a runtime whose faults are scripted."""

import threading

import pytest

from envs_forge.bundle.hashing import content_hash
from envs_forge.errors import DiskFullError
from envs_forge.rollout.identity import trial_key
from envs_forge.rollout.measure import MeasureOptions, measure
from envs_forge.rollout.policy import Attempt, StopReason
from envs_forge.sandbox.images.model import BuildCode, BuildFault

from .fakes import FakePolicy, FakeRuntime, bundle, engine_died

FAST = MeasureOptions(rollouts=3, concurrency=2, retries=2, pause_s=0.001)


def run(runtime, bundles, policy=None, options=FAST, **more):
    trials = []
    rates = measure(
        runtime, bundles, policy or FakePolicy(), options, on_trial=lambda trial, of: trials.append(trial), **more
    )
    assert runtime.alive == 0
    return rates, trials


def test_every_bundle_gets_its_rollouts_and_its_rate():
    rates, trials = run(FakeRuntime({"a": 1.0, "b": 0.0, "c": 0.5}), [bundle(name) for name in "abc"])
    assert [(rate.bundle_id, rate.k, rate.n, rate.invalid) for rate in rates] == [
        ("a", 3.0, 3, 0),
        ("b", 0.0, 3, 0),
        ("c", 1.5, 3, 0),
    ]
    assert len({trial_key(trial) for trial in trials}) == len(trials) == 9


def test_the_first_rollout_of_all_comes_before_the_second_of_any():
    runtime = FakeRuntime()
    names = [f"b{i}" for i in range(6)]
    gate = threading.Event()
    runtime.gates = dict.fromkeys(names[:1], gate)
    order = []

    def attempt(sandbox):
        order.append(sandbox.name)
        return Attempt(stopped=StopReason.DONE)

    threading.Timer(0.05, gate.set).start()
    run(runtime, [bundle(name) for name in names], FakePolicy(attempt), FAST.model_copy(update={"concurrency": 1}))
    positions = {name: [i for i, other in enumerate(order) if other == name] for name in names}
    built_last = positions["b5"][0]
    assert all(positions[name][2] > built_last for name in names)


def test_a_broken_bundle_costs_only_itself():
    runtime = FakeRuntime()
    runtime.build_faults["bad"] = BuildFault(code=BuildCode.FAILED, message="step 2 failed", log_tail="no such file")
    rates, trials = run(runtime, [bundle("bad"), bundle("good")])
    assert [(rate.n, rate.invalid, rate.rate) for rate in rates] == [(0, 3, None), (3, 0, 1.0)]
    bad = [trial for trial in trials if trial.bundle_id == "bad"]
    assert {trial.status for trial in bad} == {"build-error"}
    assert "build-failed: step 2 failed\nno such file" in bad[0].error
    assert runtime.count["prepare", "bad"] == 1


def test_a_machine_fault_is_retried_recorded_and_never_nought():
    runtime = FakeRuntime({"a": lambda call: engine_died() if call.tries in (1, 2) else 1.0})
    rates, trials = run(runtime, [bundle("a")], options=FAST.model_copy(update={"rollouts": 1}))
    assert [(t.status, t.retry, t.reward) for t in trials] == [
        ("machine-error", 0, None),
        ("machine-error", 1, None),
        ("passed", 2, 1.0),
    ]
    assert (rates[0].k, rates[0].n, rates[0].invalid) == (1.0, 1, 2)


def test_a_machine_that_stays_broken_leaves_no_rate():
    rates, trials = run(FakeRuntime({"a": lambda call: engine_died(), "b": 1.0}), [bundle("a"), bundle("b")])
    assert [(rate.n, rate.invalid) for rate in rates] == [(0, 9), (3, 0)]
    assert sorted(t.retry for t in trials if t.bundle_id == "a" and t.index == 0) == [0, 1, 2]


def test_a_build_that_the_machine_spoils_is_retried():
    runtime = FakeRuntime()
    runtime.build_faults["a"] = lambda tries: engine_died() if tries < 3 else None
    assert run(runtime, [bundle("a")])[0][0].n == 3
    runtime = FakeRuntime()
    runtime.build_faults["a"] = lambda tries: engine_died("disk-full")
    rates, trials = run(runtime, [bundle("a")])
    assert (rates[0].n, rates[0].invalid) == (0, 3)
    assert {trial.status for trial in trials} == {"machine-error"}
    assert runtime.count["prepare", "a"] == 3


def test_verifier_and_agent_errors_are_not_retried():
    _, trials = run(FakeRuntime(), [bundle("a")], FakePolicy(lambda sandbox: ValueError("x")))
    assert [trial.status for trial in trials] == ["agent-error"] * 3


def test_pauses_grow():
    options = MeasureOptions(pause_s=2, pause_factor=3)
    assert [options.pause(tries) for tries in (1, 2, 3)] == [2, 6, 18]


def test_finished_rollouts_are_not_run_again_and_count():
    _, first = run(FakeRuntime({"a": 0.0}), [bundle("a")])
    runtime = FakeRuntime({"a": 1.0})
    rates, again = run(runtime, [bundle("a")], options=FAST.model_copy(update={"rollouts": 5}), known=first)
    assert sorted(trial.index for trial in again) == [3, 4]
    assert (rates[0].k, rates[0].n) == (2.0, 5)
    runtime = FakeRuntime()
    rates, again = run(runtime, [bundle("a")], known=first)
    assert again == []
    assert runtime.calls == []
    assert rates[0].n == 3


def test_known_trials_of_other_policies_and_contents_are_left_alone():
    _, other = run(FakeRuntime({"a": 0.0}), [bundle("a", text="Something else.\n")])
    stranger = FakePolicy()
    stranger.identity = stranger.identity.model_copy(update={"version": "2"})
    _, foreign = run(FakeRuntime({"a": 0.0}), [bundle("a")], stranger)
    rates, _ = run(FakeRuntime(), [bundle("a")], known=other + foreign)
    assert (rates[0].k, rates[0].n) == (3.0, 3)


def test_what_the_machine_spoilt_before_is_tried_again_with_the_next_number():
    _, first = run(FakeRuntime({"a": lambda call: engine_died()}), [bundle("a")])
    rates, again = run(FakeRuntime(), [bundle("a")], known=first)
    assert {trial.retry for trial in again} == {3}
    assert (rates[0].n, rates[0].invalid) == (3, 9)


def test_equal_contents_are_measured_once_and_reported_under_both_names():
    one, two = bundle("a", text="Same.\n"), bundle("b", text="Same.\n")
    assert content_hash(one) == content_hash(two)
    rates, trials = run(FakeRuntime(), [one, two])
    assert len(trials) == 3
    assert [(rate.bundle_id, rate.n) for rate in rates] == [("a", 3), ("b", 3)]


def test_a_callback_that_fails_ends_the_measurement_and_is_heard():
    def callback(trial, of):
        raise DiskFullError("no space left for the ledger")

    runtime = FakeRuntime()
    with pytest.raises(DiskFullError):
        measure(runtime, [bundle(f"b{i}") for i in range(50)], FakePolicy(), FAST, on_trial=callback)
    assert runtime.alive == 0
    assert sum(runtime.count[key] for key in runtime.count if key[0] == "verify") < 50


def test_stopping_abandons_what_is_under_way_without_a_record():
    runtime = FakeRuntime()
    stop, under_way = threading.Event(), threading.Event()

    def attempt(sandbox):
        if sandbox.name == "slow":
            under_way.set()
            runtime.closed.wait(30)
            return engine_died()
        return Attempt(stopped=StopReason.DONE)

    threading.Thread(target=lambda: (under_way.wait(30), stop.set()), daemon=True).start()
    rates, trials = run(runtime, [bundle("quick"), bundle("slow")], FakePolicy(attempt), stop=stop)
    assert runtime.closed.is_set()
    assert "slow" not in {trial.bundle_id for trial in trials}
    assert rates[1].n == rates[1].invalid == 0


def test_a_policy_that_can_be_cancelled_is_cancelled_first():
    runtime = FakeRuntime()
    stop, cancelled = threading.Event(), threading.Event()

    def attempt(sandbox):
        stop.set()
        cancelled.wait(30)
        return Attempt(stopped=StopReason.DONE)

    policy = FakePolicy(attempt)
    policy.cancel = cancelled.set
    _, trials = run(runtime, [bundle("a")], policy, stop=stop)
    assert trials == []
    assert cancelled.is_set()
    assert not runtime.closed.is_set()


def test_nothing_to_do_is_no_work():
    assert run(FakeRuntime(), [])[0] == []
