"""Remembers what the oracles of bundles change, so that each is run at most once to find out."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable

from envs_forge.bundle.hashing import content_hash
from envs_forge.bundle.model import Bundle

REMEMBERED = 512
MOST_PATHS = 200_000
"""Paths of all remembered bundles together: some tens of MB."""


class OracleMemory:
    """Paths by bundle and image. Thread-safe: two threads that ask for the same bundle wait for one run."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: OrderedDict[tuple[str, str], threading.Lock] = OrderedDict()
        self._known: dict[tuple[str, str], frozenset[str]] = {}

    def changes(self, bundle: Bundle, image_id: str, run: Callable[[], frozenset[str]]) -> frozenset[str]:
        """What `run` gave when it was called for this content and image; it is called if it never was."""
        key = (content_hash(bundle), image_id)
        with self._lock:
            turn = self._running.setdefault(key, threading.Lock())
            self._running.move_to_end(key)
            self._forget()
        with turn:
            if key not in self._known:
                self._known[key] = run()
            return self._known[key]

    def _forget(self) -> None:
        """Drop the bundles that were asked for longest ago, but never the last."""
        paths = sum(map(len, list(self._known.values())))
        while len(self._running) > 1 and (len(self._running) > REMEMBERED or paths > MOST_PATHS):
            old, _ = self._running.popitem(last=False)
            paths -= len(self._known.pop(old, ()))
