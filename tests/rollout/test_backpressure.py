"""Rollouts over a real endpoint that is slow and limited: kept busy, never asked for more than it allows."""

import threading
import time

from envs_forge.config import RunConfig
from envs_forge.models.client import ModelClient
from envs_forge.models.throttle import Throttle
from envs_forge.rollout.measure import measure
from envs_forge.rollout.policy import Attempt, PolicyIdentity, StopReason
from envs_forge.run.rollouts import measure_options
from models.clients import HELLO, PLAIN, endpoint
from models.server import ModelServer, fails, says

from .fakes import FakePolicy, FakeRuntime, bundle

ALLOWED = 4
DELAY_S = 0.05
TURNS = 2


class Talkative(FakePolicy):
    """Asks a few times in each rollout, and knows how many rollouts are asking."""

    def __init__(self, url: str, **settings) -> None:
        super().__init__()
        self.identity = PolicyIdentity(kind="terminal", name="m", version="1")
        self.settings = endpoint(url, timeout_s=20, **settings)
        self._client = ModelClient("m", self.settings, PLAIN)
        self._lock = threading.Lock()
        self.asking = 0

    def attempt(self, task, sandbox, *, seed):
        for _ in range(TURNS):
            with self._lock:
                self.asking += 1
            self._client.ask(HELLO)
            with self._lock:
                self.asking -= 1
        return Attempt(stopped=StopReason.DONE)


class SlowToStart(FakeRuntime):
    def open(self, prepared, *, env=None):
        time.sleep(0.005)
        return super().open(prepared, env=env)


def run(policy, runtime, bundles, **config):
    settings = RunConfig(rollouts=2, endpoint=policy.settings, **config)
    options = measure_options(settings, policy.identity).model_copy(update={"pause_s": 0.01})
    return measure(runtime, bundles, policy, options)


def test_a_slow_endpoint_is_kept_busy_with_no_more_than_it_allows():
    arrivals, asking = [], []

    def script(body, number):
        arrivals.append(time.monotonic())
        asking.append(policy.asking)
        return says("ok", delay_s=DELAY_S)

    with ModelServer(script) as server:
        policy = Talkative(server.url, in_flight=ALLOWED)
        rates = run(policy, SlowToStart(), [bundle(f"b{n}") for n in range(10)])
    assert [rate.n for rate in rates] == [2] * 10
    # An answer takes its delay, so whoever asks within it asks beside it.
    beside = [sum(0 <= later - one < DELAY_S for later in arrivals) for one in arrivals]
    assert max(beside) == ALLOWED
    # Somebody stands in line nearly always, so that a free place is taken at once.
    steady = asking[ALLOWED : -2 * ALLOWED]
    assert sum(count >= ALLOWED for count in steady) >= 0.9 * len(steady)


def test_nobody_asks_before_retry_after_is_over_and_nothing_is_lost(monkeypatch):
    heard, pause = [], Throttle.pause

    def hear(throttle, seconds):
        pause(throttle, seconds)
        heard.append(time.monotonic())

    def script(body, number):
        return fails(429, retry_after="1") if number == 5 else says("ok", delay_s=0.01)

    monkeypatch.setattr(Throttle, "pause", hear)
    with ModelServer(script) as server:
        policy = Talkative(server.url, in_flight=2)
        rates = run(policy, FakeRuntime(), [bundle(f"b{n}") for n in range(6)], concurrency=4)
        early = [at for at in server.times if heard[0] < at < heard[0] + 0.95]
    assert len(early) <= 1  # the other that was under way already
    assert [rate.n for rate in rates] == [2] * 6


def test_memory_bounds_rollouts_apart_from_everything_else():
    inside, most, lock = [0], [0], threading.Lock()

    def attempt(sandbox):
        with lock:
            inside[0] += 1
            most[0] = max(most[0], inside[0])
        time.sleep(0.005)
        with lock:
            inside[0] -= 1
        return Attempt(stopped=StopReason.DONE)

    config = RunConfig(rollouts=3, concurrency=6, memory_mb=2 * 2048)  # each fake sandbox has 2048
    policy = FakePolicy(attempt)
    rates = measure(
        FakeRuntime(), [bundle(f"b{n}") for n in range(6)], policy, measure_options(config, policy.identity)
    )
    assert [rate.n for rate in rates] == [3] * 6
    assert most[0] == 2


def test_cores_bound_what_starts_and_is_tested_but_not_who_waits_for_an_endpoint():
    starting, most, lock = [0], [0], threading.Lock()

    class Counting(FakeRuntime):
        def open(self, prepared, *, env=None):
            with lock:
                starting[0] += 1
                most[0] = max(most[0], starting[0])
            time.sleep(0.003)
            with lock:
                starting[0] -= 1
            return super().open(prepared, env=env)

    with ModelServer(lambda body, number: says("ok", delay_s=0.1)) as server:
        policy = Talkative(server.url)
        run(policy, Counting(), [bundle(f"b{n}") for n in range(8)], concurrency=8, cores=1)
        assert server.most_busy > 2
    assert most[0] == 1
