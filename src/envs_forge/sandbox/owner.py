"""Who made a container, mount or image: a mark that later says whether that process is dead.

A mark names the machine, its boot, the PID namespace, the process and its start time, so that a reused PID, a
reboot or another machine on the same remote engine is never mistaken for the owner.
"""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Owner:
    """One process, told apart from every other that ever ran."""

    node: str
    boot: str
    namespace: str
    pid: int
    start: str

    def mark(self) -> str:
        """The owner in one word, fit for a label or a file."""
        return ".".join((self.node, self.boot, self.namespace, str(self.pid), self.start))

    def is_dead(self) -> bool:
        """Whether the process is certainly gone. What cannot be known from here counts as alive."""
        me = current()
        if self.node != me.node:
            return False
        if self.boot != me.boot:
            return True
        return self.namespace == me.namespace and process_start(self.pid) != self.start

    def is_here(self) -> bool:
        """Whether `is_dead` can tell: the process is, or was, one that this one can see."""
        me = current()
        return (self.node, self.boot, self.namespace) == (me.node, me.boot, me.namespace)


def parse(mark: str) -> Owner | None:
    """Read a mark; None when it is none."""
    parts = mark.split(".")
    if len(parts) != 5 or not parts[3].isdigit():
        return None
    return Owner(parts[0], parts[1], parts[2], int(parts[3]), parts[4])


def current() -> Owner:
    """This process. Not cached across a fork."""
    return _owner_of(os.getpid())


def process_start(pid: int) -> str | None:
    """Start time of a process in a form that only compares; None when there is no such process."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None if Path("/proc/self").exists() else _start_from_ps(pid)
    return None if fields[0] in "ZX" else fields[19]


@cache
def _owner_of(pid: int) -> Owner:
    return Owner(_node(), _boot(), _namespace(), pid, process_start(pid) or "0")


def _node() -> str:
    seed = platform.node()
    for name in ("/etc/machine-id", "/var/lib/dbus/machine-id"):
        if Path(name).exists():
            seed += Path(name).read_text(errors="replace")
            break
    return _short(seed)


def _boot() -> str:
    path = Path("/proc/sys/kernel/random/boot_id")
    return _short(path.read_text()) if path.exists() else "0"


def _namespace() -> str:
    try:
        return _short(str(Path("/proc/self/ns/pid").readlink()))
    except OSError:
        return "0"


def _start_from_ps(pid: int) -> str | None:
    run = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return _short(run.stdout) if run.stdout.strip() else None


def _short(text: str) -> str:
    return hashlib.sha256(text.strip().encode()).hexdigest()[:12]
