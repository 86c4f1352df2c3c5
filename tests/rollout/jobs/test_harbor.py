"""Harbor's own models read what we write. Set HARBOR_PYTHON to a Python 3.12 that has `harbor==0.26.*`."""

import json
import os
import subprocess

import pytest

from .test_writer import write
from .trials import one_of_each

PYTHON = os.environ.get("HARBOR_PYTHON", "")
READER = """
import json, pathlib, sys
from harbor.models.job.config import JobConfig
from harbor.models.job.lock import JobLock, TrialLock
from harbor.models.job.result import JobResult
from harbor.models.trajectories import Trajectory
from harbor.models.trial.config import TrialConfig
from harbor.models.trial.result import TrialResult
from harbor.viewer.scanner import JobScanner

job = pathlib.Path(sys.argv[1])
load = lambda model, path: model.model_validate_json(path.read_text())
load(JobConfig, job / "config.json")
lock = load(JobLock, job / "lock.json")
result = load(JobResult, job / "result.json")
trials = {}
for path in sorted(p for p in job.iterdir() if p.is_dir()):
    load(TrialConfig, path / "config.json")
    load(TrialLock, path / "lock.json")
    trial = load(TrialResult, path / "result.json")
    trajectory = load(Trajectory, path / "agent/trajectory.json")
    trials[trial.trial_name] = [trial.reward_valid, len(trajectory.steps)]
scanner = JobScanner(job.parent)
print(json.dumps({
    "total": result.n_total_trials,
    "locks": len(lock.trials),
    "trials": trials,
    "seen": sorted(scanner.list_trials(job.name)),
    "unread": [n for n in scanner.list_trials(job.name) if scanner.get_trial_result(job.name, n) is None],
    "recounted": result.stats.from_trial_results(
        [load(TrialResult, job / n / "result.json") for n in sorted(trials)]).model_dump(mode="json"),
    "stats": result.stats.model_dump(mode="json"),
}))
"""


@pytest.mark.skipif(not PYTHON, reason="HARBOR_PYTHON is not set to a Python that has harbor 0.26")
def test_harbor_reads_the_job_and_counts_as_we_do(tmp_path):
    trials = one_of_each()
    job = write(tmp_path / "jobs" / "measured", trials)
    environment = {**os.environ, "HARBOR_TELEMETRY": "0", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    done = subprocess.run(
        [PYTHON, "-c", READER, str(job)], capture_output=True, text=True, env=environment, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout.splitlines()[-1])
    assert seen["total"] == seen["locks"] == len(seen["trials"]) == len(trials)
    assert seen["seen"] == sorted(seen["trials"])
    assert seen["unread"] == []
    assert sum(valid for valid, _ in seen["trials"].values()) == sum(one.reward is not None for one in trials)
    ours, theirs = ({**seen[key], "evals": None, "n_retries": 0} for key in ("stats", "recounted"))
    assert ours == theirs
    (ours,), (theirs,) = (list(seen[key]["evals"].values()) for key in ("stats", "recounted"))
    assert list(seen["stats"]["evals"]) == list(seen["recounted"]["evals"])
    assert ours["exception_stats"] == theirs["exception_stats"]
    assert ours["reward_stats"]["reward"] == theirs["reward_stats"]["reward"]
    assert (ours["n_trials"], ours["n_errors"]) == (theirs["n_trials"], theirs["n_errors"])
