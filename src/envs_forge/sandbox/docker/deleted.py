"""Finds what a container keeps open after it was deleted: disk space that no directory shows.

Read from outside, on the engine's own machine and as root; elsewhere nothing is found.
"""

from __future__ import annotations

import contextlib
import os
import platform
import stat
from collections.abc import Iterator
from pathlib import Path

import docker

from envs_forge.sandbox.docker.connection import translated
from envs_forge.sandbox.oci.cgroups import tree_of

ELSEWHERE = ("/dev/shm/", "/memfd:", "/proc/", "/sys/")
"""Places of open files that take no disk space: they are memory, and counted as such."""


def group_of(client: docker.APIClient, container: str) -> Path | None:
    """The control group of a running container, where this process may look into its processes; else None."""
    if platform.system() != "Linux" or os.geteuid() != 0:
        return None
    with translated("look at a sandbox"):
        pid = int(client.inspect_container(container)["State"]["Pid"])
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if container in path and controllers in ("pids", ""):
                return tree_of("pids") / path.lstrip("/")
    return None


def deleted_bytes(group: Path) -> int:
    """Bytes on disk of files that the processes of a control group hold open and that have no name any more."""
    seen: set[tuple[int, int]] = set()
    total = 0
    with contextlib.suppress(OSError):
        for pid in (group / "cgroup.procs").read_text().split():
            for info in _unnamed(f"/proc/{pid}/fd"):
                if (info.st_dev, info.st_ino) not in seen:
                    seen.add((info.st_dev, info.st_ino))
                    total += info.st_blocks * 512
    return total


def _unnamed(folder: str) -> Iterator[os.stat_result]:
    """Regular files without a name among open files; who vanishes meanwhile is skipped."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                target = os.readlink(entry.path)  # noqa: PTH115 - it is no path of this machine
                if not target.endswith(" (deleted)") or target.startswith(ELSEWHERE):
                    continue
                info = os.stat(entry.path)  # noqa: PTH116 - follows the descriptor, not the name
                if stat.S_ISREG(info.st_mode) and info.st_nlink == 0:
                    yield info
