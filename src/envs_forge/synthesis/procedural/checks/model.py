"""A check: one named statement about what must lie at a path."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from envs_forge.synthesis.procedural.values.base import Value


def whole_check(name: str, path: str, wanted: Value) -> dict[str, Any]:
    """The value at `path` is exactly `wanted`."""
    return {**_head(name, path, wanted), "lines": wanted.canon()}


def focus_check(name: str, path: str, wanted: Value, slipped: Value) -> dict[str, Any]:
    """The value at `path` shows what distinguishes `wanted` from `slipped`, whatever else is wrong with it."""
    head = _head(name, path, wanted)
    right, wrong = wanted.canon(), slipped.canon()
    has, lacks = Counter(right) - Counter(wrong), Counter(wrong) - Counter(right)
    if has or lacks:
        needed = [line for line in dict.fromkeys(right) if line in has]
        absent = [line for line in dict.fromkeys(wrong) if line in lacks and line not in right]
        repeated = [line for line in dict.fromkeys(right) if line in lacks]
        return {**head, "has": [line for line in right if line in (*needed, *repeated)], "lacks": absent}
    pair = _inversion(right, wrong)
    return {**head, "first": pair[0], "then": pair[1]} if pair else {**head, "lines": right}


def _head(name: str, path: str, value: Value) -> dict[str, Any]:
    arguments = value.arguments()
    return {"name": name, "reader": value.reader, "path": path, **({"with": dict(arguments)} if arguments else {})}


def _inversion(right: Sequence[str], wrong: Sequence[str]) -> tuple[str, str] | None:
    """Two entries whose order differs, or None where repeated entries make that unclear."""
    if len(set(right)) != len(right):
        return None
    for a, b in zip(right, wrong, strict=True):
        if a != b:
            return a, b
    return None
