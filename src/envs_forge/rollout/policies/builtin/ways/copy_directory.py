"""Copy a directory."""

from __future__ import annotations

import shlex

from envs_forge.rollout.policies.builtin.clauses import Clause
from envs_forge.rollout.policies.builtin.way import OperationWays, Options, Reading


def read(clause: Clause, previous: str | None) -> Reading | None:
    """Source and target."""
    ends = clause.ends(previous)
    if not ends or len(clause.quotes) > 2 or "directory" not in clause.words:
        return None
    return {"source": ends[0], "target": ends[1]}


def command(reading: Reading, options: Options) -> str:
    """Cp."""
    source, target = shlex.quote(reading["source"]), shlex.quote(reading["target"])
    if options.get("inside"):
        return f"mkdir -p {target} && cp -r {source} {target}/data"
    if options.get("top_only"):
        return f"mkdir -p {target} && cp {source}/* {target}/"
    return f"cp -r {source}/. {target}/"


WAYS = OperationWays(
    operation="copy_directory",
    cues=frozenset({"copy"}),
    read=read,
    slips={"top_only": {"top_only": True}, "inside": {"inside": True}},
    details=(),
    command=command,
)
