"""The state directory: everything that an engine makes lies in a directory of its owner's, locked while it lives.

    <state>/owners/<mark>-<n>/   lock · slots/ · run/runc/ · run/sandboxes/<id>/ (config.json, merged/)
    <state>/layers/              exported image layers, shared by all
    <state>/lock                 held while owners come and go

The lock is the proof of life: the kernel drops it when the process dies, however it dies, and no other process can
have it by accident. The directory's name says who it was. `run/` is a tmpfs: what lives as long as a sandbox should
not wait for a disk.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from envs_forge.errors import DiskFullError, EngineError
from envs_forge.sandbox import owner
from envs_forge.sandbox.engine import MiB
from envs_forge.sandbox.oci.syscalls import MS_BIND, MS_PRIVATE, mount, new_mount

DEFAULT = Path("/var/lib/envs-forge")
VARIABLE = "ENVS_FORGE_STATE"
RUN_SIZE = "64m"
RESERVE = 256 * MiB
"""Room that the host's disk must keep: below it, no result of a sandbox can be trusted."""


def state_root() -> Path:
    """Where the engine keeps its state: `oci` below $ENVS_FORGE_STATE, or below /var/lib/envs-forge."""
    return Path(os.environ.get(VARIABLE) or DEFAULT) / "oci"


@dataclass(frozen=True, slots=True)
class Home:
    """The directory of one living engine.

    Attributes:
        path: The directory.
        lock: Descriptor whose lock says that the owner lives.
    """

    path: Path
    lock: int

    @property
    def runtime(self) -> Path:
        """State directory of runc."""
        return self.path / "run" / "runc"

    @property
    def slots(self) -> Path:
        """Where disk slots lie."""
        return self.path / "slots"

    @property
    def sandboxes(self) -> Path:
        """Where each sandbox has a directory."""
        return self.path / "run" / "sandboxes"

    def check_disk(self) -> None:
        """See that the host's disk is not full.

        Raises:
            DiskFullError: It is.
        """
        room = os.statvfs(self.slots)
        if room.f_bavail * room.f_frsize < RESERVE:
            raise DiskFullError(f"less than {RESERVE // MiB} MB left on the disk of {self.path}")


def make_home(root: Path) -> Home:
    """Make the directory of a new engine of this process.

    Raises:
        EngineError: The state directory cannot be written.
    """
    try:
        (root / "owners").mkdir(mode=0o700, parents=True, exist_ok=True)
        with _exclusive(root):
            path = _free_name(root / "owners" / owner.current().mark())
            for part in ("", "slots", "run"):
                (path / part).mkdir(mode=0o700)
            lock = os.open(path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise DiskFullError(f"the disk of {root} is full") from error
        raise EngineError(f"the state directory {root} cannot be used: {error}") from error
    _keep_mounts_private(path)
    home = Home(path, lock)
    with contextlib.suppress(OSError):  # a disk serves as well, only slower
        new_mount("tmpfs", [("size", RUN_SIZE), ("mode", "0700")], str(path / "run"))
    home.runtime.mkdir()
    home.sandboxes.mkdir()
    return home


def dead_homes(root: Path) -> list[Home]:
    """The directories of owners that are dead, each locked for the caller, who removes it and closes the lock."""
    found: list[Home] = []
    if not (root / "owners").is_dir():
        return found
    with _exclusive(root):
        for path in sorted((root / "owners").iterdir()):
            lock = _lock_of_the_dead(path)
            if lock is not None:
                found.append(Home(path, lock))
    return found


def drop_home(home: Home) -> None:
    """Remove what is left of an owner's directory and let go of its lock."""
    shutil.rmtree(home.path, ignore_errors=True)
    with contextlib.suppress(OSError):
        os.close(home.lock)


def _free_name(base: Path) -> Path:
    number = 0
    while (path := base.with_name(f"{base.name}-{number}")).exists():
        number += 1
    return path


def _lock_of_the_dead(path: Path) -> int | None:
    try:
        lock = os.open(path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return None
    return lock


@contextlib.contextmanager
def _exclusive(root: Path) -> Iterator[None]:
    with (root / "lock").open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _keep_mounts_private(path: Path) -> None:
    """Where mounts spread to other namespaces (systemd's default), keep ours from it: a copy there pins them."""
    if any(_is_shared(line) for line in Path("/proc/self/mountinfo").read_text(errors="surrogateescape").splitlines()):
        mount(str(path), str(path), MS_BIND)
        mount("none", str(path), MS_PRIVATE)


def _is_shared(line: str) -> bool:
    return " shared:" in line.partition(" - ")[0]
