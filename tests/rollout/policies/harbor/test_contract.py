"""The policy against the real Harbor. Set HARBOR_PYTHON to a Python 3.12 that has `harbor==0.26.*`."""

import os
from pathlib import Path

import pytest

from envs_forge.bundle import read_bundle
from envs_forge.config import HarborSettings
from envs_forge.errors import PrerequisiteError
from envs_forge.rollout.measure import MeasureOptions, measure
from envs_forge.rollout.policies.harbor.policy import HarborPolicy
from envs_forge.rollout.policies.nop import NopPolicy
from envs_forge.sandbox.runtime import open_runtime
from envs_forge.sandbox.verification import Isolation

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
