"""Take the last lines of a text."""

from __future__ import annotations

import shlex

from envs_forge.rollout.policies.builtin.clauses import Clause
from envs_forge.rollout.policies.builtin.way import OperationWays, Options, Reading


def read(clause: Clause, previous: str | None) -> Reading | None:
    """Source, target and how many."""
    ends = clause.ends(previous)
    if not ends or "text" not in clause.words or len(clause.numbers) != 1:
        return None
    return {"source": ends[0], "target": ends[1], "count": int(clause.numbers[0])}


def command(reading: Reading, options: Options) -> str:
    """Tail or head."""
    tool, count = options.get("tool", "tail"), reading["count"] + options.get("more", 0)
    return f"{tool} -n {count} {shlex.quote(reading['source'])} > {shlex.quote(reading['target'])}"


WAYS = OperationWays(
    operation="last_lines",
    cues=frozenset({"last"}),
    read=read,
    slips={"first": {"tool": "head"}, "one_more": {"more": 1}},
    details=(),
    command=command,
)
