"""Reads what a trial of Harbor left: an attempt and what its verifier said, or the fault that spoilt it.

Harbor's files change between versions, so every field may be missing. What is missing is an error with its own code,
and a reward is taken from the verifier's result and from nowhere else.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from envs_forge.errors import InfrastructureError
from envs_forge.rollout.policies.harbor.exceptions import ENDPOINT, MACHINE, STOPPED, VERIFIER
from envs_forge.rollout.policies.harbor.trajectory import read_steps
from envs_forge.rollout.policy import Attempt, SpoiltAttemptError, StopReason
from envs_forge.sandbox.verification import Isolation, RewardFault, Verification

TAIL = 4000


def read_result(directory: Path, *, told: str = "") -> tuple[Attempt, Verification]:
    """What a trial came to.

    Args:
        directory: The trial's directory.
        told: The end of what Harbor printed, for the message where there is no result.

    Raises:
        SpoiltAttemptError: Machine or endpoint failed; it has what there was of the attempt.
        InfrastructureError: There is no result.
    """
    result = _document(directory / "result.json")
    if result is None:
        raise InfrastructureError(f"harbor left no result: {_last_line(told) or 'and said nothing'}", code="harbor")
    name, message = next(_exceptions(result), ("", ""))
    attempt = _attempt(result, directory, name, message)
    if attempt.stopped is StopReason.BROKEN_OFF:
        code = "endpoint" if name in ENDPOINT else "harbor"
        raise SpoiltAttemptError(InfrastructureError(f"{name}: {_last_line(message)}", code=code), attempt)
    return attempt, _verification(result, directory, name)


def _attempt(result: Mapping[str, Any], directory: Path, name: str, message: str) -> Attempt:
    told = _mapping(result.get("agent_result"))
    usage = {field: _count(told.get(f"n_{key}_tokens")) for field, key in _TOKENS}
    return Attempt(
        steps=read_steps(directory / "agent" / "trajectory.json"),
        stopped=_stopped(result, name),
        error=f"{name}: {_last_line(message)}" if name else "",
        extra={"harbor": {"exception": name, "cost_usd": told.get("cost_usd"), "agent": result.get("agent_info")}},
        **usage,
    )


_TOKENS = (("prompt_tokens", "input"), ("cached_tokens", "cache"), ("completion_tokens", "output"))


def _stopped(result: Mapping[str, Any], name: str) -> StopReason:
    if not name or name in VERIFIER:
        return StopReason.DONE
    if name in STOPPED:
        return STOPPED[name]
    # An exception that is not known was the agent's if the agent was at work and the verifier never began.
    at_work = isinstance(result.get("agent_execution"), Mapping) and not isinstance(result.get("verifier"), Mapping)
    return StopReason.ERROR if at_work and name not in ENDPOINT | MACHINE else StopReason.BROKEN_OFF


def _verification(result: Mapping[str, Any], directory: Path, name: str) -> Verification:
    rewards = _mapping(_mapping(result.get("verifier_result")).get("rewards"))
    separate = result.get("verifier_environment_mode") == "separate"
    reward, fault = _reward(rewards.get("reward"), VERIFIER.get(name))
    return Verification(
        reward=reward,
        fault=fault,
        metrics={key: float(value) for key, value in rewards.items() if key != "reward" and _number(value)},
        isolation=Isolation.SEPARATE if separate else Isolation.LIVE,
        output_tail=_tail(directory / "verifier" / "test-stdout.txt"),
    )


def _reward(value: object, fault: RewardFault | None) -> tuple[float | None, RewardFault | None]:
    if fault is not None or value is None:
        return None, fault or RewardFault.MISSING
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None, RewardFault.UNPARSABLE
    if not math.isfinite(value):
        return None, RewardFault.NOT_FINITE
    return (float(value), None) if 0 <= value <= 1 else (None, RewardFault.OUT_OF_RANGE)


def _exceptions(result: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Type and message of every exception, the trial's own first, then those of its steps."""
    steps = result.get("step_results")
    parts = [result, *(steps if isinstance(steps, list) else [])]
    for part in parts:
        info = _mapping(part.get("exception_info")) if isinstance(part, Mapping) else {}
        if info:
            yield str(info.get("exception_type") or "unknown"), str(info.get("exception_message") or "")


def _document(file: Path) -> Mapping[str, Any] | None:
    try:
        value = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return None
    return value if isinstance(value, Mapping) else None


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _tail(file: Path) -> str:
    try:
        return file.read_bytes()[-TAIL:].decode("utf-8", errors="replace")
    except OSError:
        return ""


def _last_line(text: str) -> str:
    lines = [line.strip(" │╰╯─") for line in text.splitlines()]
    return next((line for line in reversed(lines) if line), "")[:500]
