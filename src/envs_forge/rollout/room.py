"""Room on this machine: so much memory for all sandboxes, handed out in the order in which it was asked for."""

from __future__ import annotations

import itertools
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_SHARE = 0.8
_MEMINFO = Path("/proc/meminfo")


def free_memory_mb(meminfo: Path = _MEMINFO) -> int | None:
    """Four fifths of the memory that is available now, in MiB; None where the system does not say."""
    try:
        lines = meminfo.read_text().splitlines()
        kib = next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    except (OSError, ValueError, IndexError, StopIteration):
        return None
    return int(kib / 1024 * _SHARE)


class Room:
    """Lets sandboxes in while their memory limits together fit. What alone is too large goes in when nobody else is.

    Args:
        memory_mb: For all together; None is no limit.
    """

    def __init__(self, memory_mb: int | None) -> None:
        self._memory_mb = memory_mb
        self._changed = threading.Condition()
        self._tickets = itertools.count()
        self._line: deque[int] = deque()
        self._taken = self._inside = 0
        self._closed = False

    def close(self) -> None:
        """Let nobody in any more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    @contextmanager
    def place(self, memory_mb: int) -> Iterator[bool]:
        """Wait for room and hold it; False when the room was closed meanwhile."""
        inside = self._enter(memory_mb)
        try:
            yield inside
        finally:
            if inside:
                with self._changed:
                    self._taken -= memory_mb
                    self._inside -= 1
                    self._changed.notify_all()

    def _enter(self, memory_mb: int) -> bool:
        with self._changed:
            ticket = next(self._tickets)
            self._line.append(ticket)
            try:
                self._changed.wait_for(lambda: self._closed or (self._line[0] == ticket and self._fits(memory_mb)))
                if self._closed:
                    return False
                self._taken += memory_mb
                self._inside += 1
                return True
            finally:
                self._line.remove(ticket)
                self._changed.notify_all()

    def _fits(self, memory_mb: int) -> bool:
        return self._memory_mb is None or not self._inside or self._taken + memory_mb <= self._memory_mb
