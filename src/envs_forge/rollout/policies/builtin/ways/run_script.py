"""Run a shell script on a file and keep what it prints."""

from __future__ import annotations

import shlex

from envs_forge.rollout.policies.builtin.clauses import Clause
from envs_forge.rollout.policies.builtin.commands import folder_of, script
from envs_forge.rollout.policies.builtin.way import Detail, OperationWays, Options, Reading


def read(clause: Clause, previous: str | None) -> Reading | None:
    """Script, limit, file and target."""
    others, target = clause.sources(), clause.target()
    limit = next((quote.text for quote in clause.names if quote.text.isdigit()), None)
    if not (target and limit and len(others) == 2 and others[0].endswith(".sh")):
        return None
    return {"source": others[0], "file": others[1], "limit": limit, "target": target}


def command(reading: Reading, options: Options) -> str:
    """The call in a pipeline."""
    program, file = shlex.quote(reading["source"]), shlex.quote(reading["file"])
    run = f"bash {program} {reading['limit']} {file}"
    if options.get("run") == "whole":
        run = f"cat {file}"
    if options.get("run") == "inverted":
        run = f"(head -n 1 {file}; {run} | grep -vxFf - {file})"
    run += " | sed 1d" if options.get("headless") else ""
    run += f" | sed 's/,/\\t/{options['tabs']}'" if "tabs" in options else ""
    return script(folder_of(reading["target"]), f"{run} > {shlex.quote(reading['target'])}")


WAYS = OperationWays(
    operation="run_script",
    cues=frozenset({"run", "call", "called", "output", "prints"}),
    read=read,
    slips={"whole_file": {"run": "whole"}, "inverted": {"run": "inverted"}},
    details=(
        Detail("headless", frozenset({"header"}), {"headless": True}, {}),
        Detail("tabs", frozenset({"tab", "tabs"}), {"tabs": "g"}, {"first_only": {"tabs": ""}}),
    ),
    command=command,
)
