"""Rollouts in real containers."""

import shlex
import threading
import time

import pytest

from envs_forge.rollout.jobs.writer import JobWriter
from envs_forge.rollout.measure import MeasureOptions, measure
from envs_forge.rollout.policies.command import CommandPolicy
from envs_forge.rollout.policies.make import make_policy
from envs_forge.rollout.policy import StopReason
from envs_forge.rollout.runner import TrialOptions, run_trial
from envs_forge.sandbox.runtime import open_runtime
from gold.tasks import task

pytestmark = pytest.mark.engine
TWICE = MeasureOptions(rollouts=2, concurrency=2)
SOLVES = '"$@" bash -c "wc -l < data.txt > count.txt"\n'


def agent(tmp_path, body):
    path = tmp_path / "agent"
    path.write_text(f"#!/bin/bash\ninstruction=$1; shift\n{body}")
    path.chmod(0o755)
    return CommandPolicy(path)


def once(runtime, policy, bundle=None, **options):
    return run_trial(runtime, runtime.prepare(bundle or task()), policy, index=0, options=TrialOptions(**options))


def test_oracle_and_nop_measure_what_they_are(runtime):
    bundles = [task(), task("broken", dockerfile="FROM debian:bookworm-slim\nRUN exit 7\n")]
    trials = []
    for spec, reward in (("oracle", 1.0), ("nop", 0.0)):
        rates = measure(runtime, bundles, make_policy(spec), TWICE, on_trial=lambda trial, bundle: trials.append(trial))
        assert [(rate.rate, rate.n, rate.invalid) for rate in rates] == [(reward, 2, 0), (None, 0, 2)]
    assert {trial.status for trial in trials if trial.bundle_id == "broken"} == {"build-error"}
    assert "exit code: 7" in next(trial.error for trial in trials if trial.bundle_id == "broken")


def test_a_command_works_in_the_sandbox_and_is_judged_by_the_tests(runtime, tmp_path):
    trial = once(runtime, agent(tmp_path, SOLVES))
    assert (trial.status, trial.reward, trial.attempt.stopped) == ("passed", 1.0, StopReason.DONE)


def test_what_passes_the_prefix_runs_in_the_sandbox_and_streams_both_ways(runtime, tmp_path):
    body = (
        'printf "one\\ntwo\\n" | "$@" cat -\n"$@" sh -c "pwd; exit 9"; echo "code $?"\n'
        '"$@" sh -c "echo to stderr >&2" 2>/dev/null\n"$@" test -e /tests && echo leaked\n'
        '"$@" touch "/app/a b"; "$@" ls /app\n'
    )
    output = once(runtime, agent(tmp_path, body)).attempt.steps[0].output
    assert output.splitlines() == ["one", "two", "/app", "code 9", "a b", "data.txt"]


def test_a_time_out_is_verified_and_leaves_nothing_running(runtime, tmp_path):
    body = SOLVES + '"$@" sh -c "exec sleep 300"\n'
    trial = once(runtime, agent(tmp_path, body), timeout_cap_s=3.0)
    assert (trial.status, trial.reward) == ("agent-timeout", 1.0)


def test_processes_of_the_agent_do_not_reach_the_tests(runtime, tmp_path):
    writer = "while :; do mkdir -p /logs/verifier; echo 1 > /logs/verifier/reward.txt; echo 3 > /app/count.txt; done"
    body = f'"$@" sh -c {shlex.quote(f"({writer}) >/dev/null 2>&1 & rm -f /app/count.txt")}\n'
    body += '"$@" rm -f /app/count.txt\n'
    bundle = task(
        tests=task()
        .files["tests/test.sh"]
        .data.decode()
        .replace("#!/bin/bash\n", "#!/bin/bash\nrm -f /app/count.txt; sleep 0.5\n")
    )
    trial = once(runtime, agent(tmp_path, body), bundle)
    assert (trial.status, trial.reward) == ("failed", 0.0)


def test_a_broken_verifier_is_not_a_failed_agent(runtime):
    trial = once(
        runtime, make_policy("oracle"), task(tests="#!/bin/bash\nset -e\nfalse\necho 0 > /logs/verifier/reward.txt\n")
    )
    assert (trial.status, trial.reward, trial.error) == ("verifier-error", None, "reward-missing")


def test_a_measurement_becomes_a_job(runtime, tmp_path):
    bundle = task()
    policy = make_policy("oracle")
    writer = JobWriter(tmp_path / "jobs" / "one", policy.identity, {bundle.id: tmp_path / "count"})
    measure(runtime, [bundle], policy, TWICE, on_trial=writer.add)
    writer.finish()
    rewards = [path.read_text() for path in (tmp_path / "jobs").rglob("reward.txt")]
    assert rewards == ["1.0\n", "1.0\n"]


@pytest.mark.parametrize("phase", ["attempt", "tests"])
def test_stopping_ends_what_is_under_way_within_seconds(phase, runtime, tmp_path):
    slow = task(tests="#!/bin/bash\nsleep 300\n") if phase == "tests" else task()
    policy = agent(tmp_path, '"$@" sleep 300\n') if phase == "attempt" else make_policy("nop")
    stop = threading.Event()
    trials = []
    with open_runtime(runtime.engine.name) as own:
        own.prepare(slow)
        threading.Timer(1.5, stop.set).start()
        started = time.monotonic()
        rates = measure(own, [slow], policy, TWICE, on_trial=lambda trial, bundle: trials.append(trial), stop=stop)
    assert (trials, rates[0].n, rates[0].invalid) == ([], 0, 0)
    assert time.monotonic() - started < 60
