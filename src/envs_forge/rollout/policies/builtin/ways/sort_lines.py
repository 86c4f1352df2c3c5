"""Sort the lines of a text."""

from __future__ import annotations

import shlex

from envs_forge.rollout.policies.builtin.clauses import Clause
from envs_forge.rollout.policies.builtin.way import OperationWays, Options, Reading


def read(clause: Clause, previous: str | None) -> Reading | None:
    """Source and target."""
    ends = clause.ends(previous)
    if not ends or "text" not in clause.words or "lines" not in clause.words:
        return None
    return {"source": ends[0], "target": ends[1]}


def command(reading: Reading, options: Options) -> str:
    """Sort or cat."""
    how = options.get("how", "sort")
    return f"{how} {shlex.quote(reading['source'])} > {shlex.quote(reading['target'])}"


WAYS = OperationWays(
    operation="sort_lines",
    cues=frozenset({"sort", "sorted", "alphabetical", "alphabetically"}),
    read=read,
    slips={"backwards": {"how": "sort -r"}, "as_they_are": {"how": "cat"}},
    details=(),
    command=command,
)
