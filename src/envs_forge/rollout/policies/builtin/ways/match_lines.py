"""Take the lines of a text that contain a word."""

from __future__ import annotations

import shlex

from envs_forge.rollout.policies.builtin.clauses import Clause
from envs_forge.rollout.policies.builtin.way import Detail, OperationWays, Options, Reading


def read(clause: Clause, previous: str | None) -> Reading | None:
    """Source, target and the word."""
    ends, words = clause.ends(previous), [quote.text for quote in clause.names]
    if not ends or len(words) != 1 or not {"text", "lines"} <= {*clause.words}:
        return None
    return {"source": ends[0], "target": ends[1], "word": words[0]}


def command(reading: Reading, options: Options) -> str:
    """Grep."""
    flags = options.get("how", "") + (" -i" if options.get("fold") else "")
    ends = f"{shlex.quote(reading['source'])} > {shlex.quote(reading['target'])}"
    return f"grep {flags} -F {shlex.quote(reading['word'])} {ends}"


WAYS = OperationWays(
    operation="match_lines",
    cues=frozenset({"contain", "containing", "search"}),
    read=read,
    slips={"inverted": {"how": "-v"}, "first_only": {"how": "-m 1"}},
    details=(Detail("ignore_case", frozenset({"case", "case-insensitive", "upper"}), {"fold": True}, {}),),
    command=command,
)
