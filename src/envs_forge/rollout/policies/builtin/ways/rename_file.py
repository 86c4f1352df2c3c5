"""Give one file of a directory another name."""

from __future__ import annotations

import shlex

from envs_forge.rollout.policies.builtin.clauses import Clause
from envs_forge.rollout.policies.builtin.folder import read_folder
from envs_forge.rollout.policies.builtin.way import OperationWays, Options, Reading


def read(clause: Clause, previous: str | None) -> Reading | None:
    """Directory and names."""
    return read_folder(clause, "file", "new")


def command(reading: Reading, options: Options) -> str:
    """Mv."""
    there = f"cd {shlex.quote(reading['source'])}"
    old, new = shlex.quote(reading["file"]), shlex.quote(reading["new"])
    return f"{there} && {options.get('how', 'mv')} {old} {new}"


WAYS = OperationWays(
    operation="rename_file",
    cues=frozenset({"rename", "name"}),
    read=read,
    slips={"copied": {"how": "cp -p"}, "removed": {"how": "rm -f"}},
    details=(),
    command=command,
)
