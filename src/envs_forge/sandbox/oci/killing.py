"""Kills one command with everything that it started, and nothing else that runs in the sandbox.

Commands of a sandbox run one after another, so whatever was not there when the command began is of its making, daemons
in their own sessions among it, unless it descends from a process that was there (a server's new worker). The group
is frozen meanwhile: nothing can fork away.
"""

from __future__ import annotations

import os
import time
from collections.abc import Set
from pathlib import Path

from envs_forge.sandbox.oci.cgroups import Cgroup, kill_all

TICKS = os.sysconf("SC_CLK_TCK")
ROUNDS = 5


def now_in_ticks() -> int:
    """The moment in the unit that the kernel gives start times in."""
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * TICKS)


def kill_newcomers(cgroup: Cgroup, before: Set[int], began: int) -> None:
    """Kill what came since a command began.

    Args:
        cgroup: The sandbox's group.
        before: Its processes when the command began.
        began: When that was, from `now_in_ticks`.
    """
    for _ in range(ROUNDS):
        frozen = cgroup.freeze()
        try:
            newcomers = _newcomers(cgroup.processes(), before, began)
            kill_all(newcomers)
        finally:
            cgroup.thaw()
        if frozen or not newcomers:
            return


def _newcomers(pids: Set[int], before: Set[int], began: int) -> set[int]:
    parents = {pid: about[0] for pid in pids if (about := _parent_and_start(pid)) is not None}
    old = {pid for pid in parents if pid in before and _started_by(pid, began)}
    init = {pid for pid in old if parents[pid] not in parents}
    kept = set(old)
    for pid in parents:
        line = _ancestors(pid, parents)
        if any(ancestor in old - init for ancestor in line):
            kept.add(pid)
    return set(parents) - kept


def _ancestors(pid: int, parents: dict[int, int]) -> list[int]:
    line: list[int] = []
    while pid in parents and pid not in line:
        line.append(pid)
        pid = parents[pid]
    return line


def _started_by(pid: int, moment: int) -> bool:
    about = _parent_and_start(pid)
    return about is not None and about[1] <= moment


def _parent_and_start(pid: int) -> tuple[int, int] | None:
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return None
    return int(fields[1]), int(fields[19])
