"""An attempt as a trajectory in the interchange format ATIF-v1.8."""

from __future__ import annotations

from typing import Any

from envs_forge.rollout.jobs.names import trial_uuid
from envs_forge.rollout.policy import Attempt, Step
from envs_forge.rollout.trial import Trial

ATIF = "ATIF-v1.8"


def trajectory(trial: Trial, instruction: str) -> dict[str, Any]:
    """The document `agent/trajectory.json` of one trial.

    Args:
        trial: With or without an attempt; the instruction is a step of its own, so there is always one.
        instruction: What the agent was told.
    """
    steps: list[dict[str, Any]] = [{"step_id": 1, "source": "user", "message": instruction}]
    if trial.attempt is not None:
        asked_a_model = trial.attempt.completion_tokens is not None
        steps += [_step(number, step, asked_a_model) for number, step in enumerate(trial.attempt.steps, start=2)]
    return {
        "schema_version": ATIF,
        "session_id": trial_uuid(trial),
        "trajectory_id": trial_uuid(trial),
        "agent": {
            "name": trial.policy.name,
            "version": trial.policy.version,
            "extra": {"kind": trial.policy.kind, "settings": dict(trial.policy.settings)},
        },
        "steps": steps,
        "final_metrics": _metrics(trial.attempt, len(steps)),
        "extra": _extra(trial),
    }


def _step(number: int, step: Step, asked_a_model: bool) -> dict[str, Any]:
    call = f"call_{number}"
    document: dict[str, Any] = {
        "step_id": number,
        "source": "agent",
        "message": step.note,
        "tool_calls": [{"tool_call_id": call, "function_name": "bash", "arguments": {"command": step.command}}],
        "observation": {"results": [{"source_call_id": call, "content": step.output}]},
        "extra": {"exit_code": step.exit_code, "duration_s": step.duration_s},
    }
    if not asked_a_model:
        document["llm_call_count"] = 0
    return document


def _metrics(attempt: Attempt | None, steps: int) -> dict[str, Any]:
    metrics: dict[str, Any] = {"total_steps": steps}
    if attempt is not None and attempt.prompt_tokens is not None:
        metrics["total_prompt_tokens"] = attempt.prompt_tokens
    if attempt is not None and attempt.completion_tokens is not None:
        metrics["total_completion_tokens"] = attempt.completion_tokens
    return metrics


def _extra(trial: Trial) -> dict[str, Any]:
    extra: dict[str, Any] = {"seed": trial.seed, "index": trial.index, "retry": trial.retry, "status": trial.status}
    if trial.attempt is not None:
        extra["stopped"] = trial.attempt.stopped
        extra["attempt"] = dict(trial.attempt.extra)
    return extra
