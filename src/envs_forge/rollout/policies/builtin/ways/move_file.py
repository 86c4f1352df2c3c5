"""Move one file of a directory into a folder of it."""

from __future__ import annotations

import shlex

from envs_forge.rollout.policies.builtin.clauses import Clause
from envs_forge.rollout.policies.builtin.folder import read_folder
from envs_forge.rollout.policies.builtin.way import OperationWays, Options, Reading


def read(clause: Clause, previous: str | None) -> Reading | None:
    """Directory and names."""
    return read_folder(clause, "file", "folder")


def command(reading: Reading, options: Options) -> str:
    """Mv."""
    there = f"cd {shlex.quote(reading['source'])}"
    file, folder = reading["file"], reading["folder"]
    goal = f"{folder}-{file}" if options.get("beside") else f"{folder}/{file}"
    return f"{there} && {options.get('how', 'mv')} {shlex.quote(file)} {shlex.quote(goal)}"


WAYS = OperationWays(
    operation="move_file",
    cues=frozenset({"move"}),
    read=read,
    slips={"copied": {"how": "cp -p"}, "renamed": {"beside": True}},
    details=(),
    command=command,
)
