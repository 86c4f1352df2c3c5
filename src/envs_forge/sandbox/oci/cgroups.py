"""The control groups of a sandbox, in version 1 (a tree for each controller), 2 (one tree), or both side by side.

runc makes the groups and sets the limits; here they are read, frozen, emptied and removed.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from envs_forge.errors import EngineError

FREEZE_S = 2.0
EMPTY_S = 20.0
POLL_S = 0.002


ROOT = Path("/sys/fs/cgroup")


@cache
def trees() -> dict[Path, set[str]]:
    """Root of every tree on this machine → the controllers of a tree of version 1, nothing for the one of version 2."""
    found: dict[Path, set[str]] = {}
    for line in Path("/proc/self/mountinfo").read_text(errors="surrogateescape").splitlines():
        left, _, right = line.partition(" - ")
        kind, _, options = right.split(" ", 2)
        if kind in ("cgroup", "cgroup2"):
            found[Path(left.split(" ")[4])] = set(options.split(",")) if kind == "cgroup" else set()
    return found


def version() -> str:
    """`v1`, `v2`, or `none`; decided as runc does. With both, the limits are set in v1."""
    every = trees()
    if every.get(ROOT) == set():
        return "v2"
    return "v1" if any("memory" in controllers for controllers in every.values()) else "none"


def can_limit_swap() -> bool:
    """Whether swap can be denied; some kernels count it only when told so at boot."""
    return version() == "v2" or (tree_of("memory") / "memory.memsw.limit_in_bytes").exists()


class Cgroup:
    """The groups of one sandbox, the same name in every tree.

    Args:
        name: Name of the groups, directly below each tree's root.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._places = [place / name for place in trees()]
        self._v1 = version() == "v1"
        self._main = self._tree("pids")

    def processes(self) -> set[int]:
        """Every process in it that has a number here (0 stands for one of another PID namespace)."""
        try:
            return {int(pid) for pid in (self._main / "cgroup.procs").read_text().split() if int(pid) > 0}
        except OSError:
            return set()

    def oom_kills(self) -> int:
        """How many processes the memory limit has killed so far."""
        name = "memory.oom_control" if self._v1 else "memory.events"
        try:
            text = (self._tree("memory") / name).read_text()
        except OSError:
            return 0
        for line in text.splitlines():
            key, _, value = line.partition(" ")
            if key == "oom_kill":
                return int(value)
        return 0

    def forks_refused(self) -> int:
        """How many new processes the limit on their number has refused so far."""
        try:
            events = (self._main / "pids.events").read_text().split()
        except OSError:
            return 0
        return int(events[1]) if events[:1] == ["max"] else 0

    def freeze(self) -> bool:
        """Stop every process where it is; False when that did not take effect in time."""
        try:
            if self._v1:
                (self._tree("freezer") / "freezer.state").write_text("FROZEN")
            else:
                (self._main / "cgroup.freeze").write_text("1")
        except OSError:
            return False
        end = time.monotonic() + FREEZE_S
        while not self._frozen():
            if time.monotonic() > end:
                return False
            time.sleep(POLL_S)
        return True

    def thaw(self) -> None:
        """Let the processes go on."""
        with contextlib.suppress(OSError):
            if self._v1:
                (self._tree("freezer") / "freezer.state").write_text("THAWED")
            else:
                (self._main / "cgroup.freeze").write_text("0")

    def kill(self) -> None:
        """Kill everything in it, and see it gone.

        Raises:
            EngineError: Something in it does not die.
        """
        end = time.monotonic() + EMPTY_S
        while pids := self.processes():
            kill_all(pids)
            self.thaw()
            if time.monotonic() > end:
                raise EngineError(f"processes of sandbox {self.name} do not die", code="unkillable")
            time.sleep(POLL_S)

    def remove(self) -> None:
        """Remove the groups, which must be empty; those that are gone are fine.

        Raises:
            EngineError: One is in use.
        """
        end = time.monotonic() + EMPTY_S
        for place in self._places:
            while not _gone(place):
                if time.monotonic() > end:
                    raise EngineError(f"the control group {place} cannot be removed", code="cgroup-busy")
                time.sleep(POLL_S)

    def _frozen(self) -> bool:
        try:
            if self._v1:
                return (self._tree("freezer") / "freezer.state").read_text().strip() == "FROZEN"
            return "frozen 1" in (self._main / "cgroup.events").read_text()
        except OSError:
            return False

    def _tree(self, controller: str) -> Path:
        return tree_of(controller) / self.name


def kill_all(pids: Iterable[int]) -> None:
    """SIGKILL; who is gone is fine."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def tree_of(controller: str) -> Path:
    """Root of the tree that has `controller`."""
    return next((place for place, controllers in trees().items() if controller in controllers), ROOT)


def _gone(place: Path) -> bool:
    try:
        place.rmdir()
    except OSError:
        return not place.exists()
    return True
