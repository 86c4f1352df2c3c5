"""Caps on what the steps of image builds use, where the engine's builder allows it.

All builds of this machine run in one control group with a limit on memory and processes, where the engine is local,
this is root, and the engine manages control groups itself (not systemd). A single file can never outgrow `MOST_FILE`.
What cannot be capped: the total that a build writes (it is stopped when the disk is nearly full), its processor time
and its network. Both options are part of the builder's cache key, so they are the same for every build.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import docker

from envs_forge.sandbox.docker.connection import translated
from envs_forge.sandbox.oci.cgroups import Cgroup, tree_of, trees, version
from envs_forge.sandbox.oci.layer_trim import locked
from envs_forge.sandbox.uses import cache_root

GROUP = "envs-forge-builds"
SHARE_OF_MEMORY = 0.75
MOST_PROCESSES = 2048
MOST_FILE = 16 * 1024**3
LEAST_FREE = 1024**3
"""Room that the engine's disk must keep; a build is stopped when there is less."""
ULIMITS = ("--ulimit", f"fsize={MOST_FILE}", "--ulimit", "core=0")


class BuildGroup:
    """The control group of builds, made with the first and removed after the last.

    Args:
        usable: Whether the engine puts builds into control groups that this process can make.
    """

    def __init__(self, usable: bool) -> None:
        self._usable = usable and version() != "none" and os.geteuid() == 0

    @contextlib.contextmanager
    def held(self) -> Iterator[list[str]]:
        """Flags for the builder that are right inside the block."""
        if not self._usable:
            yield list(ULIMITS)
            return
        _lock().parent.mkdir(parents=True, exist_ok=True)
        with locked(_lock(), fcntl.LOCK_SH):
            made = _make()
            yield [*ULIMITS, *(("--cgroup-parent", f"/{GROUP}") if made else ())]
        remove_idle()

    def strained(self) -> bool:
        """Whether builds have met the memory limit since the group was made."""
        if not self._usable:
            return False
        if version() == "v2":
            return Cgroup(GROUP).oom_kills() > 0
        folder = tree_of("memory") / GROUP
        with contextlib.suppress(OSError, ValueError):
            most, limit = (folder / f"memory.{name}_in_bytes" for name in ("max_usage", "limit"))
            return int(most.read_text()) >= int(limit.read_text())
        return False


def _lock() -> Path:
    return cache_root() / "builds.lock"


def build_place(client: docker.APIClient) -> tuple[BuildGroup, Path | None]:
    """The control group for builds of an engine, and where its data lies if that is on this machine."""
    with translated("describe itself"):
        about = client.info()
    data = Path(str(about.get("DockerRootDir") or "/nowhere"))
    local = data.is_dir() and client.base_url.startswith("http+docker://")
    return BuildGroup(local and about.get("CgroupDriver") == "cgroupfs"), data if local else None


def remove_idle() -> None:
    """Remove the group where no build needs it; what a stopped build still has in it is for a later call."""
    with contextlib.suppress(OSError), locked(_lock(), fcntl.LOCK_EX | fcntl.LOCK_NB):
        for tree in trees():
            for folder, _, _ in os.walk(tree / GROUP, topdown=False):
                with contextlib.suppress(OSError):
                    os.rmdir(folder)  # noqa: PTH106 - a name from os.walk


def _make() -> bool:
    """Make the group with its limits; False where that is not allowed."""
    memory = int(_memory() * SHARE_OF_MEMORY)
    v1 = version() == "v1"
    limits = (
        (("memory", "memory.limit_in_bytes"), ("memory", "memory.memsw.limit_in_bytes"), ("pids", "pids.max"))
        if v1
        else (("memory", "memory.max"), ("memory", "memory.swap.max"), ("pids", "pids.max"))
    )
    values = (memory, memory if v1 else 0, MOST_PROCESSES)
    try:
        for (controller, name), value in zip(limits, values, strict=True):
            folder = tree_of(controller) / GROUP
            folder.mkdir(exist_ok=True)
            if "sw" not in name or (folder / name).exists():
                (folder / name).write_text(str(value))
    except OSError:
        return False
    return True


def _memory() -> int:
    """Bytes of memory that this machine has."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def is_nearly_full(place: Path | None) -> bool:
    """Whether the disk of the engine's data, if that is on this machine, has too little room for a build to go on."""
    if place is None:
        return False
    with contextlib.suppress(OSError):
        return shutil.disk_usage(place).free < LEAST_FREE
    return False
