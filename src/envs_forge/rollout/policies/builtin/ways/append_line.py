"""Add a line to the end of a text."""

from __future__ import annotations

import shlex

from envs_forge.rollout.policies.builtin.clauses import Clause
from envs_forge.rollout.policies.builtin.way import OperationWays, Options, Reading


def read(clause: Clause, previous: str | None) -> Reading | None:
    """The text and the file."""
    texts, paths = clause.names, clause.paths
    if len(texts) != 1 or len(paths) != 1 or not {"text", "line"} <= {*clause.words}:
        return None
    return {"source": paths[0].text, "target": paths[0].text, "text": texts[0].text}


def command(reading: Reading, options: Options) -> str:
    """Echo or sed."""
    path, text = shlex.quote(reading["target"]), reading["text"]
    if options.get("top"):
        return f"sed -i {shlex.quote(f'1i {text}')} {path}"
    return f"echo {shlex.quote(text)} {options.get('how', '>>')} {path}"


WAYS = OperationWays(
    operation="append_line",
    cues=frozenset({"add", "append", "put"}),
    read=read,
    slips={"at_the_top": {"top": True}, "replaced": {"how": ">"}},
    details=(),
    command=command,
)
