"""Remembers who uses what that is kept for later (images, layers), and when it was last used.

A use is an empty file named after the process. What a living process has used is never given up; of what only dead ones
have used, that which was used longest ago goes first.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from envs_forge.sandbox import owner

FORGOTTEN_S = 30 * 24 * 3600.0
"""A process that cannot be seen from here counts as alive for so long after its last use."""


def cache_root() -> Path:
    """`$XDG_CACHE_HOME/envs-forge`, by default under `~/.cache`."""
    root = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(root).expanduser() / "envs-forge"


class Uses:
    """Uses of keys, kept in a directory that all processes share. Thread-safe.

    Args:
        root: The directory; made with the first use.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._noted: set[tuple[str, str]] = set()

    def note(self, key: str) -> bool:
        """This process uses `key` from now on; whether that is news. Where it cannot be written down, nothing is."""
        mark = owner.current().mark()
        if (mark, key) in self._noted:
            return False
        self._noted.add((mark, key))
        with contextlib.suppress(OSError), self._locked(fcntl.LOCK_SH):
            folder = self._folder(key)
            folder.mkdir(parents=True, exist_ok=True)
            (folder / mark).touch()
            for file in folder.iterdir():
                if not _is_alive(file):
                    file.unlink(missing_ok=True)
        return True

    def last(self, key: str) -> float:
        """When it was last used, in seconds since the epoch; 0 when that is not known."""
        return max((file.stat().st_mtime for file in self._files(key)), default=0.0)

    def in_use(self, key: str) -> bool:
        """Whether a living process has used it."""
        return any(_is_alive(file) for file in self._files(key))

    def forget(self, key: str) -> None:
        """It is gone."""
        shutil.rmtree(self._folder(key), ignore_errors=True)

    @contextlib.contextmanager
    def frozen(self) -> Iterator[bool]:
        """Nobody notes a use inside the block; yields False, and freezes nothing, where nothing can be locked."""
        try:
            with self._locked(fcntl.LOCK_EX):
                yield True
        except OSError:
            yield False

    def _folder(self, key: str) -> Path:
        return self._root / hashlib.sha256(key.encode()).hexdigest()[:32]

    def _files(self, key: str) -> list[Path]:
        with contextlib.suppress(OSError):
            return list(self._folder(key).iterdir())
        return []

    @contextlib.contextmanager
    def _locked(self, how: int) -> Iterator[None]:
        self._root.mkdir(parents=True, exist_ok=True)
        with (self._root / "lock").open("ab") as file:
            fcntl.flock(file, how)
            yield


def _is_alive(file: Path) -> bool:
    who = owner.parse(file.name)
    if who is None or who.is_dead():
        return False
    return who.is_here() or time.time() - file.stat().st_mtime < FORGOTTEN_S
