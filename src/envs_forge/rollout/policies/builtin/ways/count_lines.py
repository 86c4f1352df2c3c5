"""Count the lines of a text."""

from __future__ import annotations

import shlex

from envs_forge.rollout.policies.builtin.clauses import Clause
from envs_forge.rollout.policies.builtin.way import Detail, OperationWays, Options, Reading


def read(clause: Clause, previous: str | None) -> Reading | None:
    """Source and target."""
    ends = clause.ends(previous)
    if not ends or "text" not in clause.words or "lines" not in clause.words or clause.numbers:
        return None
    return {"source": ends[0], "target": ends[1]}


def command(reading: Reading, options: Options) -> str:
    """Wc or grep."""
    source, target = shlex.quote(reading["source"]), shlex.quote(reading["target"])
    if options.get("blank_lines"):
        return f"grep -v '^$' {source} | wc {options.get('what', '-l')} > {target}"
    return f"cat {source} | wc {options.get('what', '-l')} > {target}"


WAYS = OperationWays(
    operation="count_lines",
    cues=frozenset({"number", "count", "many"}),
    read=read,
    slips={"words": {"what": "-w"}, "characters": {"what": "-c"}},
    details=(Detail("blank_lines", frozenset({"blank"}), {"blank_lines": True}, {}),),
    command=command,
)
