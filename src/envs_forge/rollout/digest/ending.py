"""Where an attempt ended: the command that failed last, the line that tells most, the policy's last words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from envs_forge.rollout.digest.clean import one_line
from envs_forge.rollout.policy import Attempt, Step

COMMAND_CHARACTERS = 200
ERROR_CHARACTERS = 200
WORDS_CHARACTERS = 240
_LAST_LINES = 60
_TELLING = re.compile(
    r"\berror\b|\bexception\b|\w+Error\b|\bfatal\b|\bfailed\b|not found|no such|cannot|denied|refused|invalid|killed"
    r"|unexpected|undefined|traceback|unable",
    re.IGNORECASE,
)


def ending(attempt: Attempt) -> dict[str, Any]:
    """Fields of a `FailureMode` that follow from its attempt."""
    steps = attempt.steps
    failed = [step for step in steps if step.exit_code != 0]
    last = (failed or list(steps))[-1:]
    error = one_line(attempt.error, ERROR_CHARACTERS) or (_error(last[0]) if failed else "")
    return {
        "stopped": attempt.stopped.value,
        "steps": len(steps),
        "failed_steps": len(failed),
        "repeated": max(Counter(step.command for step in steps).values(), default=0),
        "last_command": one_line(last[0].command, COMMAND_CHARACTERS) if last else "",
        "exit_code": last[0].exit_code if last else None,
        "error": error,
        "last_words": _last_words(attempt),
    }


def _error(step: Step) -> str:
    """The last line that reads like an error, else the last line."""
    lines = [line for line in step.output[-20_000:].splitlines() if line.strip()][-_LAST_LINES:]
    told = [line for line in lines if _TELLING.search(line)] or lines
    return one_line(told[-1], ERROR_CHARACTERS) if told else ""


def _last_words(attempt: Attempt) -> str:
    turns = attempt.extra.get("turns")
    last = turns[-1] if isinstance(turns, list | tuple) and turns else None
    text = last.get("text") if isinstance(last, Mapping) else None
    if not isinstance(text, str):
        text = attempt.steps[-1].note if attempt.steps else ""
    return one_line(text, WORDS_CHARACTERS)
