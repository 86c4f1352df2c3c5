"""Make one file of a directory executable."""

from __future__ import annotations

import shlex

from envs_forge.rollout.policies.builtin.clauses import Clause
from envs_forge.rollout.policies.builtin.folder import read_folder
from envs_forge.rollout.policies.builtin.way import OperationWays, Options, Reading


def read(clause: Clause, previous: str | None) -> Reading | None:
    """Directory and names."""
    return read_folder(clause, "file")


def command(reading: Reading, options: Options) -> str:
    """Chmod."""
    there = f"cd {shlex.quote(reading['source'])}"
    if options.get("every"):
        return f"{there} && find . -maxdepth 1 -type f -exec chmod 755 {{}} +"
    return f"{there} && chmod {options.get('mode', '755')} {shlex.quote(reading['file'])}"


WAYS = OperationWays(
    operation="make_executable",
    cues=frozenset({"executable", "execute"}),
    read=read,
    slips={"owner_only": {"mode": "744"}, "all_of_them": {"every": True}},
    details=(),
    command=command,
)
