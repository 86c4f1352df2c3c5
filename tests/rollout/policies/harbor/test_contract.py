"""The policy against the real Harbor. Set HARBOR_PYTHON to a Python 3.12 that has `harbor==0.26.*`."""

import json
import os
import subprocess
import threading
import time
from pathlib import Path

import pytest

from envs_forge.bundle import read_bundle
from envs_forge.config import HarborSettings
from envs_forge.errors import InfrastructureError, PrerequisiteError
from envs_forge.rollout.measure import MeasureOptions, measure
from envs_forge.rollout.policies.harbor.policy import HarborPolicy
from envs_forge.rollout.policies.nop import NopPolicy
from envs_forge.sandbox.runtime import open_runtime
from envs_forge.sandbox.verification import Isolation
from models.server import ModelServer, says

PYTHON = os.environ.get("HARBOR_PYTHON", "")
SEEDS = Path(__file__).parents[4] / "seeds"
TASKS = ("60-audit-count-lines", "69-incident-make-executable")

pytestmark = [
    pytest.mark.engine,
    pytest.mark.slow,
    pytest.mark.skipif(not PYTHON, reason="HARBOR_PYTHON is not set to a Python that has harbor 0.26"),
]


@pytest.fixture(scope="module")
def runtime():
    try:
        opened = open_runtime("docker")
    except PrerequisiteError as error:
        pytest.skip(str(error))
    yield opened
    opened.close()


@pytest.mark.parametrize(("agent", "reward"), [("oracle", 1.0), ("nop", 0.0)])
def test_agents_of_harbor_in_its_docker_environment(runtime, agent, reward):
    bundles = [read_bundle(SEEDS / name) for name in TASKS]
    policy = HarborPolicy(agent, HarborSettings(python=PYTHON))
    trials = []
    rates = measure(
        runtime, bundles, policy, MeasureOptions(rollouts=1), on_trial=lambda trial, _: trials.append(trial)
    )
    assert [(rate.rate, rate.n, rate.invalid) for rate in rates] == [(reward, 1, 0)] * 2, trials
    assert {trial.policy.kind for trial in trials} == {"harbor"}
    for trial in trials:
        assert trial.verification.isolation is Isolation.LIVE
        assert ("FAIL" if agent == "nop" else "PASS") in trial.verification.output_tail
    ours = measure(runtime, bundles, NopPolicy(), MeasureOptions(rollouts=1), known=trials)
    assert [(rate.n, rate.reused, rate.rate) for rate in ours] == [(1, 0, 0.0)] * 2


def test_an_agent_that_does_not_exist_is_no_failing_agent(runtime):
    policy = HarborPolicy("no-such-agent", HarborSettings(python=PYTHON))
    (rate,) = measure(runtime, [read_bundle(SEEDS / TASKS[0])], policy, MeasureOptions(rollouts=1, retries=0))
    assert (rate.n, rate.rate) == (0, None)
    assert dict(rate.statuses) == {"machine-error": 1}


def test_an_agent_with_a_model_of_ours(runtime, monkeypatch):
    """Terminus 2 installs tmux where there is none, so it needs a network here and a mirror that can be reached."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    count = {"keystrokes": "wc -l < /app/inventory/assets.txt > /app/how-many.txt\n", "duration": 0.5}
    work = json.dumps({"analysis": "", "plan": "", "commands": [count], "task_complete": False})
    done = json.dumps({"analysis": "", "plan": "", "commands": [], "task_complete": True})
    trials = []
    with ModelServer([says(work), says(done)]) as server:
        settings = HarborSettings(python=PYTHON, network=True)
        policy = HarborPolicy("terminus-2", settings, model="openai/asked", base_url=server.url)
        options = MeasureOptions(rollouts=1, retries=0)
        bundles = [read_bundle(SEEDS / TASKS[0])]
        measure(runtime, bundles, policy, options, on_trial=lambda trial, _: trials.append(trial))
    (trial,) = trials
    if "tmux" in trial.error:
        pytest.skip(f"the agent could not install itself: {trial.error}")
    assert trial.status == "passed", trial.error
    assert trial.attempt.steps[0].command.startswith("wc -l")
    assert (trial.attempt.prompt_tokens, trial.attempt.completion_tokens) == (300, 30)


def test_a_trial_that_is_broken_off_leaves_no_container(runtime):
    bundle = read_bundle(SEEDS / TASKS[0])
    slow = bundle.files["solution/solve.sh"].model_copy(update={"data": b"#!/bin/bash\nsleep 300\n"})
    bundle = bundle.model_copy(update={"files": {**bundle.files, "solution/solve.sh": slow}})
    prepared = runtime.prepare(bundle)
    policy = HarborPolicy("oracle", HarborSettings(python=PYTHON))
    ended = []

    def run():
        with pytest.raises(InfrastructureError, match="cancelled"):
            policy.run_whole(prepared, timeout_s=300)
        ended.append(True)

    thread = threading.Thread(target=run)
    before = containers()
    thread.start()
    while containers() == before and thread.is_alive():
        time.sleep(0.5)
    policy.cancel()
    thread.join()
    assert ended
    assert containers() <= before


def containers():
    """Names of containers of Harbor's trials of ours."""
    listed = ["docker", "ps", "-a", "--format", "{{.Names}}"]
    names = subprocess.run(listed, capture_output=True, text=True, check=True).stdout.split()
    return {name for name in names if name.startswith("forge-")}
