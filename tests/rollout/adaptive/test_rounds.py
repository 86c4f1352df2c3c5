"""Adaptive measurement against a runtime whose outcomes are scripted: what is decided follows from what is recorded."""

import hashlib
import threading

import pytest

from envs_forge.bundle.hashing import content_hash
from envs_forge.rollout.adaptive.options import AdaptiveOptions
from envs_forge.rollout.measure import MeasureOptions, measure
from rollout.fakes import FakePolicy, FakeRuntime, bundle, engine_died

BUNDLES = [bundle(f"b{i:02d}") for i in range(12)]
ADAPTIVE = AdaptiveOptions(start=2, cap=9, budget=50, size=3, batch=4)
OPTIONS = MeasureOptions(adaptive=ADAPTIVE, concurrency=3, retries=1, pause_s=0.001)


class SeededPolicy(FakePolicy):
    """Passes or fails by the rollout's seed alone, at a rate that belongs to the bundle."""

    def attempt(self, task, sandbox, *, seed):
        rate = int(sandbox.name[1:]) / 11
        draw = int(hashlib.sha256(str(seed).encode()).hexdigest(), 16) % 1000 / 1000
        sandbox.solved = draw < rate
        return super().attempt(task, sandbox, seed=seed)


def seeded_runtime():
    return FakeRuntime({one.id: lambda call: float(call.solved) for one in BUNDLES})


def run(options=OPTIONS, known=(), runtime=None, **more):
    trials, lock = [], threading.Lock()

    def keep(trial, of):
        with lock:
            trials.append(trial)

    runtime = runtime or seeded_runtime()
    rates = measure(runtime, BUNDLES, SeededPolicy(), options, known=known, on_trial=keep, **more)
    return rates, trials


def keys(trials):
    return sorted((trial.bundle_id, trial.index) for trial in trials)


def test_the_budget_goes_to_some_and_not_to_others():
    rates, trials = run()
    assert len(trials) == 50
    spread = sorted(rate.n for rate in rates)
    assert spread[0] == 2
    assert 2 < spread[-1] <= 9
    assert len(set(keys(trials))) == 50


def test_concurrency_changes_nothing():
    one = run(OPTIONS.model_copy(update={"concurrency": 1}))
    many = run(OPTIONS.model_copy(update={"concurrency": 8}))
    assert keys(one[1]) == keys(many[1])
    assert one[0] == many[0]


@pytest.mark.parametrize("kept", [0, 1, 7, 24, 25, 31, 49, 50])
def test_a_measurement_that_was_cut_off_goes_on_as_it_would_have(kept):
    rates, trials = run()
    again, rest = run(known=trials[:kept])
    assert again == rates
    assert keys(trials[:kept] + rest) == keys(trials)


def test_a_stop_between_two_rounds_is_a_stop():
    stop = threading.Event()
    trials = []

    def keep(trial, of):
        trials.append(trial)
        if len(trials) == 24:  # the first round's last
            stop.set()

    measure(seeded_runtime(), BUNDLES, SeededPolicy(), OPTIONS, on_trial=keep, stop=stop)
    assert len(trials) == 24
    assert keys(run(known=trials)[1] + trials) == keys(run()[1])


def test_rollouts_beyond_what_is_asked_for_count_all_the_same():
    fixed = MeasureOptions(rollouts=6, concurrency=3, pause_s=0.001)
    _, six = run(fixed)
    mine = [trial for trial in six if trial.bundle_id in ("b00", "b05")]
    rates, trials = run(known=mine)
    assert {rate.bundle_id: rate.n for rate in rates}["b05"] >= 6
    assert not set(keys(mine)) & set(keys(trials))


def test_rollouts_of_earlier_runs_are_where_it_starts():
    fixed = MeasureOptions(rollouts=6, concurrency=3, pause_s=0.001)
    _, six = run(fixed)
    earlier = [trial.model_copy(update={"reused_from": "before"}) for trial in six]
    rates, trials = run(known=earlier)
    assert trials == []  # 72 are more than the budget of 50
    assert all(rate.n == rate.reused == 6 for rate in rates)


def test_broken_bundles_and_machines_cost_their_own_rollouts_only():
    runtime = seeded_runtime()
    runtime.build_faults["b05"] = lambda tries: engine_died()
    rates, _ = run(runtime=runtime)
    by_name = {rate.bundle_id: rate for rate in rates}
    assert (by_name["b05"].n, by_name["b05"].missing) == (0, 2)
    assert sum(rate.n for rate in rates) == 48
    assert all(rate.n >= 2 for name, rate in by_name.items() if name != "b05")


def test_a_bundle_with_one_action_is_not_looked_at_further():
    only = content_hash(BUNDLES[5])
    masks = {only: (False, False, True, True, False, False)}
    everybody = OPTIONS.model_copy(update={"adaptive": ADAPTIVE.model_copy(update={"size": 12})})
    rates, _ = run(everybody, allowed=lambda of: masks.get(content_hash(of), (True,) * 6))
    assert {rate.bundle_id: rate.n for rate in rates}["b05"] == 2
