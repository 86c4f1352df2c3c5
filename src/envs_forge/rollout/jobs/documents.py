"""The JSON documents of a job directory: config, lock and result of a trial and of a job.

Key names are those of Harbor 0.26; keys that it fills with defaults are left out. What has no place there goes into
`metadata` of the agent's result under `envs_forge`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from envs_forge.rollout.jobs.names import agent_and_model, trial_name, trial_uuid
from envs_forge.rollout.policy import PolicyIdentity
from envs_forge.rollout.trial import Trial, TrialStatus
from envs_forge.sandbox.verification import RewardFault

_EXCEPTIONS = {
    TrialStatus.AGENT_TIMEOUT: "AgentTimeoutError",
    TrialStatus.AGENT_ERROR: "NonZeroAgentExitCodeError",
    TrialStatus.CONTEXT_EXCEEDED: "ContextWindowExceededError",
    TrialStatus.VERIFIER_ERROR: "VerifierOutputParseError",
    TrialStatus.BUILD_ERROR: "SandboxBuildFailedError",
    TrialStatus.MACHINE_ERROR: "RuntimeRequestError",
    TrialStatus.ENDPOINT_ERROR: "ApiError",
}
_FAULTS = {
    RewardFault.MISSING: "RewardFileNotFoundError",
    RewardFault.EMPTY: "RewardFileEmptyError",
    RewardFault.TIMEOUT: "VerifierTimeoutError",
}


class JobInfo(BaseModel):
    """What all documents of one job share.

    Attributes:
        directory: The job directory; its name is the job's name.
        id: The job's UUID.
        policy: Who was measured.
        source: Name of the pool that the tasks come from.
        engine: `oci` or `docker`.
        attempts: Rollouts asked for each task.
        concurrency: Trials at once.
        started_at: ISO 8601 with zone.
        asked: Rollouts asked for in all, as far as that is known before the end.
    """

    model_config = ConfigDict(frozen=True)

    directory: Path
    id: str
    policy: PolicyIdentity
    source: str
    engine: str
    attempts: int
    concurrency: int
    started_at: str
    asked: int = 0


def exception_type(trial: Trial) -> str | None:
    """The exception by which Harbor knows a status; None where a trial ended as it should."""
    fault = trial.verification.fault if trial.verification is not None else None
    if trial.status is TrialStatus.VERIFIER_ERROR and fault is not None:
        return _FAULTS.get(fault, "VerifierOutputParseError")
    return _EXCEPTIONS.get(trial.status)


def _agent(policy: PolicyIdentity) -> dict[str, Any]:
    agent, model = agent_and_model(policy)
    named = {"model_name": model} if model else {}
    return {**named, "name": agent, "kwargs": {"kind": policy.kind, "version": policy.version, **policy.settings}}


def _agent_info(policy: PolicyIdentity) -> dict[str, Any]:
    agent, model = agent_and_model(policy)
    return {"name": agent, "version": policy.version, "model_info": {"name": model} if model else None}


def _environment(job: JobInfo) -> dict[str, Any]:
    return {"type": "docker", "kwargs": {"engine": job.engine}}


def trial_config(job: JobInfo, trial: Trial, task: Path) -> dict[str, Any]:
    """`config.json` of a trial."""
    return {
        "task": {"path": str(task), "source": job.source},
        "trial_name": trial_name(trial),
        "trials_dir": str(job.directory),
        "agent": _agent(trial.policy),
        "environment": _environment(job),
        "job_id": job.id,
    }


def trial_lock(job: JobInfo, trial: Trial, task: Path) -> dict[str, Any]:
    """`lock.json` of a trial."""
    return {
        "schema_version": 2,
        "task": {
            "name": trial.bundle_id,
            "type": "local",
            "digest": f"sha256:{trial.bundle_hash}",
            "source": job.source,
            "path": str(task),
        },
        "agent": _agent(trial.policy),
        "environment": _environment(job),
        "verifier": {"environment_mode": "shared"},
    }


def trial_result(job: JobInfo, trial: Trial, task: Path) -> dict[str, Any]:
    """`result.json` of a trial."""
    finished_at = (datetime.fromisoformat(trial.started_at) + timedelta(seconds=trial.duration_s)).isoformat()
    return {
        "id": trial_uuid(trial),
        "task_name": trial.bundle_id,
        "trial_name": trial_name(trial),
        "trial_uri": (job.directory.resolve() / trial_name(trial)).as_uri(),
        "task_id": {"path": str(task)},
        "source": job.source,
        "task_checksum": trial.bundle_hash,
        "config": trial_config(job, trial, task),
        "agent_info": _agent_info(trial.policy),
        "agent_result": _agent_result(trial),
        "verifier_result": None if trial.reward is None else {"rewards": rewards(trial)},
        "verifier_environment_mode": "shared",
        "exception_info": _exception(trial, finished_at),
        "started_at": trial.started_at,
        "finished_at": finished_at,
        **_timing(trial, finished_at),
    }


def _timing(trial: Trial, finished_at: str) -> dict[str, Any]:
    """When the agent worked (its sandbox's start included) and when the tests ran, which come last."""
    if trial.verification is None:
        return {"agent_execution": {"started_at": trial.started_at, "finished_at": finished_at}}
    seconds = min(trial.verification.duration_s, trial.duration_s)
    between = (datetime.fromisoformat(finished_at) - timedelta(seconds=seconds)).isoformat()
    return {
        "agent_execution": {"started_at": trial.started_at, "finished_at": between},
        "verifier": {"started_at": between, "finished_at": finished_at},
    }


def rewards(trial: Trial) -> dict[str, float]:
    """Reward and metrics of a trial that has a reward."""
    metrics = dict(trial.verification.metrics) if trial.verification is not None else {}
    return {**metrics, "reward": trial.reward} if trial.reward is not None else {}


def _agent_result(trial: Trial) -> dict[str, Any]:
    facts = {
        "kind": trial.policy.kind,
        "index": trial.index,
        "retry": trial.retry,
        "seed": trial.seed,
        "status": trial.status,
        "duration_s": trial.duration_s,
        "reused_from": trial.reused_from or None,
    }
    result: dict[str, Any] = {"metadata": {"envs_forge": facts}}
    if trial.attempt is not None:
        result["n_input_tokens"] = trial.attempt.prompt_tokens
        result["n_cache_tokens"] = trial.attempt.cached_tokens
        result["n_output_tokens"] = trial.attempt.completion_tokens
    return result


def _exception(trial: Trial, occurred_at: str) -> dict[str, Any] | None:
    kind = exception_type(trial)
    if kind is None:
        return None
    message = trial.error or (trial.attempt.error if trial.attempt is not None else "") or str(trial.status)
    return {
        "exception_type": kind,
        "exception_message": message,
        "exception_traceback": "",
        "occurred_at": occurred_at,
    }


def job_config(job: JobInfo, tasks: Sequence[Path]) -> dict[str, Any]:
    """`config.json` of a job."""
    return {
        "job_name": job.directory.name,
        "jobs_dir": str(job.directory.parent),
        "n_attempts": job.attempts,
        "n_concurrent_trials": job.concurrency,
        "environment": _environment(job),
        "agents": [_agent(job.policy)],
        "tasks": [{"path": str(task), "source": job.source} for task in tasks],
    }


def job_lock(job: JobInfo, locks: Sequence[Mapping[str, Any]], version: str) -> dict[str, Any]:
    """`lock.json` of a job. The version is ours: no Harbor took part in it."""
    return {
        "schema_version": 3,
        "created_at": job.started_at,
        "harbor": {"version": None},
        "envs_forge": {"version": version},
        "n_concurrent_trials": job.concurrency,
        "retry": {},
        "trials": list(locks),
    }


def job_result(job: JobInfo, trials: Sequence[Trial], finished_at: str | None) -> dict[str, Any]:
    """`result.json` of a job; `finished_at` is None while it runs."""
    errored = [trial for trial in trials if exception_type(trial) is not None]
    key = "__".join([*(name for name in agent_and_model(job.policy) if name), job.source])
    return {
        "id": job.id,
        "started_at": job.started_at,
        "updated_at": finished_at or job.started_at,
        "finished_at": finished_at,
        "n_total_trials": len(trials) if finished_at else max(len(trials), job.asked),
        "stats": {
            "n_completed_trials": len(trials),
            "n_errored_trials": len(errored),
            "n_retries": sum(trial.retry > 0 for trial in trials),
            "n_input_tokens": _tokens(trial.attempt.prompt_tokens for trial in trials if trial.attempt),
            "n_cache_tokens": _tokens(trial.attempt.cached_tokens for trial in trials if trial.attempt),
            "n_output_tokens": _tokens(trial.attempt.completion_tokens for trial in trials if trial.attempt),
            "evals": {key: _evaluation(trials, errored)},
        },
    }


def _tokens(counts: Any) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _evaluation(trials: Sequence[Trial], errored: Sequence[Trial]) -> dict[str, Any]:
    counted = [trial for trial in trials if trial.counted]
    by_reward: dict[str, list[str]] = {}
    for trial in counted:
        by_reward.setdefault(str(trial.reward), []).append(trial_name(trial))
    by_exception: dict[str, list[str]] = {}
    for trial in errored:
        by_exception.setdefault(exception_type(trial) or "", []).append(trial_name(trial))
    return {
        "n_trials": len(counted),
        "n_errors": len(errored),
        "metrics": [{"mean": sum(t.reward or 0.0 for t in counted) / len(counted)}] if counted else [],
        "reward_stats": {"reward": by_reward},
        "exception_stats": by_exception,
    }
