from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from envs_forge.errors import UserError
from envs_forge.plan.settings import Scoring
from envs_forge.run.harborjobs import is_job
from envs_forge.run.rates import read_rates


def trial(job: Path, task: str, number: int, rewards: dict[str, Any] | None) -> None:
    place = job / f"{task}__{number}"
    place.mkdir(parents=True)
    document = {
        "id": f"{task}-{number}",
        "task_name": task,
        "trial_name": place.name,
        "verifier_result": None if rewards is None else {"rewards": rewards},
        "exception_info": {"exception_type": "ApiError"} if rewards is None else None,
    }
    (place / "result.json").write_text(json.dumps(document))


@pytest.fixture
def job(tmp_path: Path) -> Path:
    root = tmp_path / "jobs" / "one"
    for number, reward in enumerate([1, 0, 0.5]):
        trial(root, "b", number, {"reward": reward, "speed": 7})
    trial(root, "b", 3, None)
    trial(root, "a", 0, {"reward": 1.0})
    trial(root, "broken", 0, None)
    (root / "result.json").write_text('{"n_total_trials": 6}')
    return root


def test_a_job_and_a_directory_of_jobs(job: Path) -> None:
    for path in (job, job.parent):
        rows = read_rates(path, scoring=Scoring.POSTERIOR)
        assert [(row.id, row.k, row.n) for row in rows] == [("a", 1.0, 1), ("b", 1.5, 3)]


def test_rewards_that_are_none_are_named(job: Path) -> None:
    trial(job, "a", 1, {"reward": 1.5})
    with pytest.raises(UserError, match=r"the rate is not in \[0, 1\]: row 1"):
        read_rates(job, scoring=Scoring.POSTERIOR)


def test_a_job_without_any_reward(tmp_path: Path) -> None:
    trial(tmp_path / "job", "a", 0, None)
    with pytest.raises(UserError, match="none of the 1 trials has a reward"):
        read_rates(tmp_path / "job", scoring=Scoring.POSTERIOR)


def test_other_directories_are_no_jobs(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "result.json").write_text("{")
    assert not is_job(tmp_path)
