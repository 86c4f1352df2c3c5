"""The directory of a run: where everything lies, and that only one process at a time works in it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from envs_forge.errors import UserError
from envs_forge.files import disk_faults

RUNS = Path("runs")
LATEST = "latest"
_STAMP = "%Y-%m-%d__%H-%M-%S"
_IN_USE = ".in-use"
_BEFORE_A_RUN = {_IN_USE, "run.log"}
"""What a process leaves that was killed before its run began."""


@dataclass(frozen=True)
class RunDirectory:
    """Names of what lies in a run's directory."""

    root: Path

    @property
    def config(self) -> Path:
        """`RunConfig` as it was given."""
        return self.root / "config.json"

    @property
    def lock(self) -> Path:
        """What the run was made of: versions, content hashes, identities."""
        return self.root / "lock.json"

    @property
    def pass_rates(self) -> Path:
        """The measured pass rates."""
        return self.root / "pass-rates.json"

    @property
    def plan(self) -> Path:
        """The newest plan."""
        return self.root / "plan.json"

    @property
    def result(self) -> Path:
        """What came of it, recomputed from the ledger."""
        return self.root / "result.json"

    @property
    def ledger(self) -> Path:
        """Every record of the run."""
        return self.root / "ledger.sqlite"

    @property
    def log(self) -> Path:
        """What the program said about itself."""
        return self.root / "run.log"

    @property
    def jobs(self) -> Path:
        """Measurements, in Harbor's job layout."""
        return self.root / "jobs"

    @property
    def candidates(self) -> Path:
        """Every candidate that a generator wrote, accepted or not."""
        return self.root / "candidates"

    @property
    def export(self) -> Path:
        """The accepted bundles, for trainers."""
        return self.root / "export"

    @contextlib.contextmanager
    def hold(self) -> Iterator[None]:
        """Be the one process that works here. The hold ends with the block or with the process, however it dies.

        Raises:
            UserError: Another process is at work here.
        """
        with disk_faults(self.root):
            handle = os.open(self.root / _IN_USE, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            if not _locked(handle):
                owner = os.read(handle, 32).decode(errors="replace").strip() or "unknown"
                raise UserError(f"{self.root} is in use by process {owner}", fix="wait for it or stop it")
            os.ftruncate(handle, 0)
            os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
            yield
        finally:
            os.close(handle)

    def in_use(self) -> bool:
        """Whether some process holds it at this moment."""
        try:
            handle = os.open(self.root / _IN_USE, os.O_RDONLY)
        except (FileNotFoundError, NotADirectoryError):
            return False
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True
        finally:
            os.close(handle)
        return False


def _locked(handle: int) -> bool:
    """Try to lock. More than once: whoever asks `in_use` at this moment holds the file for an instant."""
    for pause_s in (0.05, 0.05, 0.1, 0.0):
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except OSError:
            time.sleep(pause_s)
    return False


def new_run(place: Path | None = None) -> RunDirectory:
    """Make the directory of a new run.

    Args:
        place: Where; default `runs/<date>__<time>`, which `runs/latest` then points to.

    Raises:
        UserError: The place is taken or cannot be made.
    """
    with disk_faults(place or RUNS):
        try:
            return RunDirectory(_make(place) if place is not None else _make_dated(RUNS))
        except OSError as error:
            raise UserError(f"cannot make the run directory {place or RUNS}: {error.strerror}") from error


def find_run(name: str) -> RunDirectory:
    """The run that a user names: a directory, or a name under `runs/` such as `latest`.

    Raises:
        UserError: There is no such run.
    """
    for place in (Path(name), RUNS / name):
        directory = RunDirectory(place.resolve())
        if directory.config.is_file() or directory.ledger.is_file():
            return directory
    if (Path(name)).is_dir():
        raise UserError(f"{name} is not a run directory: it has no config.json", fix="name a directory under runs/")
    raise UserError(f"no run {name!r}", fix="name a directory under runs/, or latest")


def _make(place: Path) -> Path:
    root = place.absolute()
    if RunDirectory(root).in_use():
        raise UserError(f"{place} is in use by another process", fix="wait for it or choose another directory")
    if RunDirectory(root).config.exists():
        raise UserError(f"{place} holds a run already", fix=f"continue it with envs-forge resume {place}")
    if root.is_dir() and not {path.name for path in root.iterdir()} <= _BEFORE_A_RUN:
        raise UserError(f"{place} is not empty", fix="choose another directory")
    root.mkdir(parents=True, exist_ok=True)
    return root


def _make_dated(runs: Path) -> Path:
    runs.mkdir(parents=True, exist_ok=True)
    name = stamp = datetime.now().astimezone().strftime(_STAMP)
    for number in range(2, 1000):
        try:
            (runs / name).mkdir()
            break
        except FileExistsError:
            name = f"{stamp}-{number}"
    root = (runs / name).absolute()
    _point_latest(runs, name)
    return root


def _point_latest(runs: Path, name: str) -> None:
    temporary = runs / f".{LATEST}.{secrets.token_hex(4)}"
    temporary.symlink_to(name)
    try:
        temporary.replace(runs / LATEST)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
