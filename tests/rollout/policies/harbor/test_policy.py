"""The policy with a program in Harbor's place: what it is called with, what comes of it, and how it is found."""

import json
import os
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from envs_forge.bundle import read_bundle
from envs_forge.bundle.model import BundleFile
from envs_forge.config import HarborSettings, RunConfig
from envs_forge.errors import PrerequisiteError, UserError
from envs_forge.rollout.policies.cancel import cancel_policy
from envs_forge.rollout.policies.harbor import install
from envs_forge.rollout.policies.harbor.install import Harbor, find_harbor
from envs_forge.rollout.policies.harbor.policy import HarborPolicy
from envs_forge.rollout.policies.harbor.task import write_task
from envs_forge.rollout.policies.make import make_policy
from envs_forge.rollout.runner import TrialOptions, run_trial
from envs_forge.rollout.trial import TrialStatus
from envs_forge.sandbox.engine import Image, SandboxSpec
from envs_forge.sandbox.runtime import Prepared

from ...fakes import FakeRuntime

SEED = next((Path(__file__).parents[4] / "seeds").glob("60-*"))
PROGRAM = """#!{python}
import json, os, pathlib, sys, tomllib
asked = dict(zip(sys.argv[3::2], sys.argv[4::2]))
task = pathlib.Path(asked["--path"])
seen = {{"argv": sys.argv[1:], "toml": tomllib.loads((task / "task.toml").read_text()),
        "telemetry": os.environ["HARBOR_TELEMETRY"]}}
pathlib.Path({seen!r}).write_text(json.dumps(seen))
{code}
trial = pathlib.Path(asked["--trials-dir"], asked["--trial-name"])
trial.mkdir(parents=True)
(trial / "result.json").write_text(json.dumps({{"verifier_result": {{"rewards": {{"reward": 0.0}}}}}}))
"""


def prepared(**config):
    bundle = read_bundle(SEED)
    bundle = bundle.model_copy(update={"config": bundle.config.model_copy(update=config)})
    return Prepared(bundle, Image("sha256:abc", "envs-forge/env:abc", workdir="/app"), SandboxSpec(), "fake")


@pytest.fixture
def harbor(tmp_path):
    def make(code=""):
        program = tmp_path / "harbor"
        program.write_text(PROGRAM.format(python=sys.executable, seen=str(tmp_path / "seen.json"), code=code))
        program.chmod(0o755)
        return Harbor(program, "0.26.0")

    return make


def run(policy, **options):
    return run_trial(FakeRuntime(), prepared(), policy, index=0, options=TrialOptions(**options))


def test_one_call_a_rollout_and_harbor_s_reward(harbor, tmp_path):
    settings = HarborSettings(options={"b": "2", "a": "1"}, arguments=("--effort", "low"))
    policy = HarborPolicy("terminus-2", settings, model="openai/x", base_url="http://localhost:1/v1", harbor=harbor())
    trial = run(policy, timeout_cap_s=20.0)
    assert (trial.status, trial.reward) == (TrialStatus.FAILED, 0.0)
    seen = json.loads((tmp_path / "seen.json").read_text())
    assert seen["argv"][:2] == ["trial", "start"]
    text = " ".join(seen["argv"])
    for part in (
        "--agent terminus-2",
        "--env docker",
        "--model openai/x",
        "--base-url http://localhost:1/v1",
        "--agent-timeout 20",
        "--agent-kwarg a=1 --agent-kwarg b=2 --effort low",
    ):
        assert part in text
    assert seen["toml"]["environment"]["docker_image"] == "sha256:abc"
    assert "network_mode" not in seen["toml"]["environment"]
    assert "--extra-docker-compose" in seen["argv"]
    assert seen["telemetry"] == "0"


def test_the_identity_names_the_verifier_and_so_is_pooled_with_no_other(harbor):
    one = HarborPolicy("oracle", HarborSettings(), harbor=harbor())
    assert one.identity.kind == "harbor"
    assert one.identity.label == "oracle (judged by Harbor 0.26.0, environment docker)"
    assert make_policy("oracle").identity.label == "oracle"
    assert one.identity.settings["verifier"] == one.verifier == "Harbor 0.26.0, environment docker"
    others = [
        make_policy("oracle"),
        HarborPolicy("oracle", HarborSettings(environment="modal"), harbor=harbor()),
        HarborPolicy("oracle", HarborSettings(), harbor=Harbor(harbor().command, "0.27.0")),
        HarborPolicy("oracle", HarborSettings(), model="x", harbor=harbor()),
    ]
    assert one.identity not in [other.identity for other in others]
    patient = HarborSettings(python="/elsewhere", around_s=5)
    assert HarborPolicy("oracle", patient, harbor=harbor()).identity == one.identity


def test_other_environments_get_the_task_as_it_is(tmp_path):
    task, arguments = write_task(prepared(), tmp_path, "daytona")
    assert arguments == []
    assert (task / "task.toml").read_bytes() == prepared().bundle.files["task.toml"].data


def test_a_task_of_several_containers_stays_as_it_is(tmp_path):
    one = prepared()
    files = {**one.bundle.files, "environment/docker-compose.yaml": BundleFile(data=b"services: {}\n")}
    several = replace(one, bundle=one.bundle.model_copy(update={"files": files}))
    task, arguments = write_task(several, tmp_path, "docker")
    assert arguments == []
    assert "docker_image" not in (task / "task.toml").read_text()


def test_a_network_is_taken_away_but_where_it_is_asked_for(tmp_path):
    for network, wanted in ((False, 2), (True, 0)):
        _, arguments = write_task(prepared(), tmp_path / str(network), "docker", network=network)
        assert len(arguments) == wanted


def test_a_harbor_that_breaks_or_hangs_is_no_failing_agent(harbor):
    policy = HarborPolicy("oracle", HarborSettings(environment="modal"), harbor=harbor("sys.exit('no such agent')"))
    trial = run(policy)
    assert trial.status is TrialStatus.MACHINE_ERROR
    assert "no such agent" in trial.error
    slow = HarborSettings(environment="modal", around_s=0.001)
    policy = HarborPolicy("oracle", slow, harbor=harbor("import time; time.sleep(60)"))
    stuck = prepared(verifier_timeout_sec=0.5)
    trial = run_trial(FakeRuntime(), stuck, policy, index=0, options=TrialOptions(timeout_cap_s=0.5))
    assert trial.status is TrialStatus.MACHINE_ERROR
    assert "did not end" in trial.error


def test_cancelling_ends_it_at_once(harbor):
    settings = HarborSettings(environment="modal")
    policy = HarborPolicy("oracle", settings, harbor=harbor("import time; time.sleep(60)"))
    threading.Timer(0.5, cancel_policy, [policy]).start()
    assert "cancelled" in run(policy).error


def test_a_python_without_harbor_is_one_line(monkeypatch):
    with pytest.raises(UserError, match="has no Harbor"):
        find_harbor(sys.executable)
    monkeypatch.setenv("HARBOR_PYTHON", "/nowhere/python")
    with pytest.raises(UserError, match="/nowhere/python has no Harbor"):
        make_policy("harbor:oracle")
    with pytest.raises(UserError, match="needs the name of an agent"):
        make_policy("harbor:")


def test_without_a_new_python_the_fix_is_said(monkeypatch, tmp_path):
    monkeypatch.delenv("HARBOR_PYTHON", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(install, "_pythons", lambda: iter(()))
    with pytest.raises(PrerequisiteError, match=r"version 3\.12 or newer") as raised:
        find_harbor(None)
    assert "HARBOR_PYTHON" in str(raised.value.fix)


def test_it_is_installed_once_into_the_cache(monkeypatch, tmp_path):
    """With a script in the place of Python: it makes the environment, installs, and is asked for the version."""
    base = tmp_path / "python3.12"
    base.write_text(
        '#!/bin/sh\n[ "$2" = venv ] || exit 3\nmkdir -p "$4/bin"\n'
        "cat > \"$4/bin/python\" <<'E'\n#!/bin/sh\n"
        'if [ "$2" = pip ]; then echo "$@" >> "$(dirname "$0")/log"; touch "$(dirname "$0")/harbor"; exit; fi\n'
        'echo \'"0.26.0"\'\nE\nchmod +x "$4/bin/python"\n'
    )
    base.chmod(0o755)
    monkeypatch.delenv("HARBOR_PYTHON", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(install, "_pythons", lambda: iter([base]))
    found = [find_harbor(None) for _ in range(2)]
    assert found[0] == found[1]
    assert found[0].version == "0.26.0"
    log = (found[0].command.parent / "log").read_text()
    assert log.count("harbor==0.26.0") == 1


def test_settings_are_part_of_the_config():
    assert RunConfig(harbor={"environment": "e2b"}).harbor.environment == "e2b"
    assert os.environ.get("HARBOR_TELEMETRY") != "1"
