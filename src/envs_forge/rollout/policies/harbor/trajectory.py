"""What an agent did, from the trajectory that Harbor kept. What is not there or not understood is left out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from envs_forge.rollout.policy import Step

LONGEST = 64 << 20
"""Bytes of a trajectory that are read; a longer one is left out."""
OUTPUT = 12_000
"""Characters of one output that are kept, from its end."""


def read_steps(file: Path) -> tuple[Step, ...]:
    """The tool calls of a trajectory with what came back; empty where there is none."""
    try:
        if file.stat().st_size > LONGEST:
            return ()
        document = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return ()
    steps = document.get("steps") if isinstance(document, Mapping) else None
    return tuple(found for step in _mappings(steps) for found in _of(step))


def _of(step: Mapping[str, Any]) -> list[Step]:
    if step.get("source") != "agent":
        return []
    seen = step.get("observation")
    results = list(_mappings(seen.get("results"))) if isinstance(seen, Mapping) else []
    found: list[Step] = []
    for place, call in enumerate(_mappings(step.get("tool_calls"))):
        wanted = call.get("tool_call_id")
        own = [result for result in results if result.get("source_call_id") == wanted] or results[place : place + 1]
        output = "\n".join(_text(result.get("content")) for result in own)
        note = _text(step.get("message")) if place == 0 else ""
        found.append(Step(command=_command(call), exit_code=None, output=output[-OUTPUT:], duration_s=0.0, note=note))
    return found


def _command(call: Mapping[str, Any]) -> str:
    """What was typed, where the call has such an argument, else the whole call."""
    arguments = call.get("arguments")
    if isinstance(arguments, Mapping):
        for name in ("command", "cmd", "keystrokes"):
            if isinstance(arguments.get(name), str):
                return str(arguments[name])
    return f"{call.get('function_name', '')} {json.dumps(arguments, ensure_ascii=False)}".strip()


def _text(content: object) -> str:
    """Content is a string, or a list of parts of which the texts count."""
    if isinstance(content, Sequence) and not isinstance(content, str):
        return "".join(str(part.get("text", "")) for part in _mappings(content))
    return content if isinstance(content, str) else ""


def _mappings(value: object) -> Sequence[Mapping[str, Any]]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        return []
    return [item for item in value if isinstance(item, Mapping)]
