"""What one engine still holds: sandboxes and snapshots, and how each is let go."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable

from envs_forge.errors import ForgeError


class Holdings:
    """Names of open things and the calls that remove them. Thread-safe."""

    def __init__(self) -> None:
        self._removals: dict[str, Callable[[], None]] = {}
        self._lock = threading.Lock()

    def add(self, name: str, remove: Callable[[], None]) -> None:
        """Hold `name`; a second call replaces how it is removed."""
        with self._lock:
            self._removals[name] = remove

    def drop(self, name: str) -> None:
        """It is gone."""
        with self._lock:
            self._removals.pop(name, None)

    def remove_all(self) -> None:
        """Remove everything, the latest first: a snapshot lies under younger sandboxes. Failures wait for `reap`."""
        with self._lock:
            removals = list(self._removals.values())
        for remove in reversed(removals):
            with contextlib.suppress(ForgeError):
                remove()
