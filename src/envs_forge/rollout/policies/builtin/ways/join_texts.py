"""Put one text after another."""

from __future__ import annotations

import shlex

from envs_forge.rollout.policies.builtin.clauses import Clause
from envs_forge.rollout.policies.builtin.way import OperationWays, Options, Reading


def read(clause: Clause, previous: str | None) -> Reading | None:
    """Both sources, in the order of their names in the sentence, and the target, which comes last."""
    paths = [quote.text for quote in clause.paths]
    if previous and len(paths) == 2:
        paths.insert(0, previous)
    if len(paths) != 3 or "text" not in clause.words:
        return None
    return {"source": paths[0], "side": paths[1], "target": paths[2]}


def command(reading: Reading, options: Options) -> str:
    """Cat."""
    parts = [reading["source"], reading["side"]][:: options.get("step", 1)]
    parts = [shlex.quote(path) for path in parts[: options.get("most", 2)]]
    return f"cat {' '.join(parts)} > {shlex.quote(reading['target'])}"


WAYS = OperationWays(
    operation="join_texts",
    cues=frozenset({"followed", "concatenate", "join"}),
    read=read,
    slips={"swapped": {"step": -1}, "second_left_out": {"most": 1}},
    details=(),
    command=command,
)
