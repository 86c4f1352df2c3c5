"""Delete one file of a directory."""

from __future__ import annotations

import shlex

from envs_forge.rollout.policies.builtin.clauses import Clause
from envs_forge.rollout.policies.builtin.folder import read_folder
from envs_forge.rollout.policies.builtin.way import OperationWays, Options, Reading


def read(clause: Clause, previous: str | None) -> Reading | None:
    """Directory and names."""
    return read_folder(clause, "file")


def command(reading: Reading, options: Options) -> str:
    """Rm."""
    there = f"cd {shlex.quote(reading['source'])}"
    if options.get("every"):
        return f"{there} && find . -maxdepth 1 -type f -delete"
    return f"{there} && {options.get('how', 'rm')} {shlex.quote(reading['file'])}"


WAYS = OperationWays(
    operation="delete_file",
    cues=frozenset({"delete", "remove"}),
    read=read,
    slips={"emptied": {"how": "truncate -s 0"}, "all_of_them": {"every": True}},
    details=(),
    command=command,
)
