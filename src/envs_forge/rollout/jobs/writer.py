"""Writes a measurement as it goes: one directory a trial, and the job's own documents at start and end."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from envs_forge import __version__
from envs_forge.bundle.model import Bundle
from envs_forge.files import new_directory, write_json
from envs_forge.redaction import redact
from envs_forge.rollout.jobs import documents
from envs_forge.rollout.jobs.documents import JobInfo
from envs_forge.rollout.jobs.names import job_uuid, trial_name
from envs_forge.rollout.jobs.trajectory import trajectory
from envs_forge.rollout.policy import PolicyIdentity
from envs_forge.rollout.trial import Trial

_REFRESH_S = 5.0
"""Seconds between two totals of a job that runs: so old is what a viewer shows at most."""


class JobWriter:
    """One job directory. `add` may be called from any thread; adding a trial again replaces its directory.

    Args:
        directory: Where; made if missing. Its name becomes the job's name.
        policy: Who is measured.
        tasks: Path of each bundle's task directory, by bundle id; readers look there for the task.
        source: Name of the pool, shown by readers as the dataset.
        engine: Name of the sandbox engine.
        attempts: Rollouts asked for each task.
        concurrency: Trials at once.
        started_at: ISO 8601 with zone; default now.
    """

    def __init__(
        self,
        directory: Path,
        policy: PolicyIdentity,
        tasks: Mapping[str, Path],
        *,
        source: str = "pool",
        engine: str = "",
        attempts: int = 1,
        concurrency: int = 1,
        started_at: str | None = None,
    ) -> None:
        self._tasks = dict(tasks)
        self._job = JobInfo(
            directory=directory,
            id=job_uuid(directory.name, policy.model_dump_json()),
            policy=policy,
            source=source,
            engine=engine,
            attempts=attempts,
            concurrency=concurrency,
            started_at=started_at or datetime.now(UTC).isoformat(timespec="milliseconds"),
            asked=attempts * len(tasks),
        )
        self._trials: dict[str, Trial] = {}
        self._lock = threading.Lock()
        directory.mkdir(parents=True, exist_ok=True)
        write_json(directory / "config.json", documents.job_config(self._job, list(self._tasks.values())))
        self._write_result(None)

    @property
    def directory(self) -> Path:
        """Where it writes."""
        return self._job.directory

    def add(self, trial: Trial, bundle: Bundle) -> Path:
        """Write one trial's directory; returns it."""
        task = self._task(trial)
        path = self._job.directory / trial_name(trial)
        with new_directory(path, replace=True, durable=False) as new:
            _json(new / "config.json", documents.trial_config(self._job, trial, task))
            _json(new / "lock.json", documents.trial_lock(self._job, trial, task))
            _json(new / "result.json", documents.trial_result(self._job, trial, task))
            _text(new / "agent" / "trajectory.json", _dumps(trajectory(trial, bundle.instruction)))
            if trial.verification is not None:
                _text(new / "verifier" / "test-stdout.txt", trial.verification.output_tail)
            if trial.reward is not None:
                _text(new / "verifier" / "reward.txt", f"{trial.reward!r}\n")
        with self._lock:
            self._trials[path.name] = trial
            due = time.monotonic() - self._written > _REFRESH_S
        if due:
            self._write_result(None)
        return path

    def finish(self) -> None:
        """Write the job's lock and its final result."""
        with self._lock:
            trials = [self._trials[name] for name in sorted(self._trials)]
        locks = [documents.trial_lock(self._job, trial, self._task(trial)) for trial in trials]
        write_json(self._job.directory / "lock.json", documents.job_lock(self._job, locks, __version__))
        self._write_result(datetime.now(UTC).isoformat(timespec="milliseconds"))

    def _task(self, trial: Trial) -> Path:
        return self._tasks.get(trial.bundle_id, Path("tasks") / trial.bundle_id)

    def _write_result(self, finished_at: str | None) -> None:
        with self._lock:
            self._written = time.monotonic()
            trials = [self._trials[name] for name in sorted(self._trials)]
        write_json(self._job.directory / "result.json", documents.job_result(self._job, trials, finished_at))


def _dumps(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _json(path: Path, value: Mapping[str, Any]) -> None:
    _text(path, _dumps(value))


def _text(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(redact(text), encoding="utf-8", newline="\n", errors="replace")
