"""An attempt as a trajectory in the interchange format ATIF-v1.8."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from envs_forge.rollout.jobs.names import agent_and_model, trial_uuid
from envs_forge.rollout.policy import Attempt, Step
from envs_forge.rollout.trial import Trial

ATIF = "ATIF-v1.8"
TURNS = "turns"
"""Where a policy that asks a model keeps its answers, in the attempt's `extra`."""


def trajectory(trial: Trial, instruction: str) -> dict[str, Any]:
    """The document `agent/trajectory.json` of one trial.

    A policy that asked a model has a step for each answer, with all commands that it held, its tokens and, where the
    endpoint gave them, log-probabilities and token ids. Others have a step for each command.

    Args:
        trial: With or without an attempt; the instruction is a step of its own, so there is always one.
        instruction: What the agent was told.
    """
    agent, model = agent_and_model(trial.policy)
    steps = [{"source": "user", "message": instruction}, *_steps(trial.attempt)]
    return {
        "schema_version": ATIF,
        "session_id": trial_uuid(trial),
        "trajectory_id": trial_uuid(trial),
        "agent": {
            "name": agent,
            "version": trial.policy.version,
            **({"model_name": model} if model else {}),
            "extra": {"kind": trial.policy.kind, "settings": dict(trial.policy.settings)},
        },
        "steps": [{"step_id": number, **step} for number, step in enumerate(steps, start=1)],
        "final_metrics": _metrics(trial.attempt, len(steps)),
        "extra": _extra(trial),
    }


def _steps(attempt: Attempt | None) -> Iterator[dict[str, Any]]:
    if attempt is None:
        return
    turns = _turns(attempt)
    if turns is None:
        asked_a_model = attempt.completion_tokens is not None
        for number, step in enumerate(attempt.steps, start=2):
            done = {"source": "agent", "message": step.note, **_calls([step], f"call_{number}")}
            yield done if asked_a_model else {**done, "llm_call_count": 0}
        return
    left = list(attempt.steps)
    for number, turn in enumerate(turns, start=2):
        own, left = left[: turn["steps"]], left[turn["steps"] :]
        yield _turn(turn, own, f"call_{number}")


def _turns(attempt: Attempt) -> Sequence[Mapping[str, Any]] | None:
    """The answers of a model, if there are any and the attempt's steps are theirs."""
    turns = attempt.extra.get(TURNS)
    if not isinstance(turns, list) or not all(isinstance(turn, Mapping) for turn in turns):
        return None
    return turns if sum(turn.get("steps", 0) for turn in turns) == len(attempt.steps) else None


def _turn(turn: Mapping[str, Any], steps: Sequence[Step], name: str) -> dict[str, Any]:
    usage = turn.get("usage") or {}
    metrics: dict[str, Any] = {key: usage.get(key) for key in ("prompt_tokens", "completion_tokens", "cached_tokens")}
    metrics["prompt_token_ids"] = turn.get("prompt_token_ids")
    metrics["completion_token_ids"] = turn.get("token_ids")
    tokens = turn.get("logprobs")
    metrics["logprobs"] = [token["logprob"] for token in tokens] if tokens else None
    known = {key: value for key, value in metrics.items() if value is not None}
    told = {key: turn[key] for key in ("outcome", "finish", "duration_s", "lost_s", "spoilt") if turn.get(key)}
    return {
        "source": "agent",
        "message": turn.get("text") or "",
        **({"model_name": turn["model"]} if turn.get("model") else {}),
        **({"reasoning_content": turn["reasoning"]} if turn.get("reasoning") else {}),
        **_calls(steps, name, more=told),
        **({"metrics": known} if known else {}),
    }


def _calls(steps: Sequence[Step], name: str, *, more: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Tool calls and what came of them; exit codes and times are extra, one a call."""
    names = [name if place == 0 else f"{name}_{place}" for place in range(len(steps))]
    document: dict[str, Any] = {}
    if steps:
        pairs = list(zip(names, steps, strict=True))
        document["tool_calls"] = [
            {"tool_call_id": call, "function_name": "bash", "arguments": {"command": step.command}}
            for call, step in pairs
        ]
        document["observation"] = {
            "results": [{"source_call_id": call, "content": step.output} for call, step in pairs]
        }
    codes: dict[str, Any] = {}
    if len(steps) == 1:
        codes = {"exit_code": steps[0].exit_code, "duration_s": steps[0].duration_s}
    elif steps:
        codes = {"exit_codes": [step.exit_code for step in steps], "durations_s": [step.duration_s for step in steps]}
    extra = {**codes, **({"answer": dict(more)} if more else {})}
    return {**document, **({"extra": extra} if extra else {})}


def _metrics(attempt: Attempt | None, steps: int) -> dict[str, Any]:
    metrics: dict[str, Any] = {"total_steps": steps}
    if attempt is not None:
        counts = (attempt.prompt_tokens, attempt.completion_tokens, attempt.cached_tokens)
        names = ("total_prompt_tokens", "total_completion_tokens", "total_cached_tokens")
        metrics |= {name: count for name, count in zip(names, counts, strict=True) if count is not None}
    return metrics


def _extra(trial: Trial) -> dict[str, Any]:
    extra: dict[str, Any] = {"seed": trial.seed, "index": trial.index, "retry": trial.retry, "status": trial.status}
    if trial.attempt is not None:
        extra["stopped"] = trial.attempt.stopped
        told = dict(trial.attempt.extra)
        if _turns(trial.attempt) is not None:
            told.pop(TURNS)  # they are the steps
        extra["attempt"] = told
    return extra
