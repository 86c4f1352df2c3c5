"""Keeps reading what background processes write to the output of a command that has ended.

Without a reader such a process would die of SIGPIPE, or block, as soon as it logs a line. What it writes goes nowhere.
"""

from __future__ import annotations

import contextlib
import os
import select
import threading
import time

CHUNK = 64 * 1024
PAUSE_S = 0.005
"""Between two rounds, so that whoever floods the pipe cannot keep a core of ours busy."""


class Drain:
    """One thread for all pipes of an engine; runs while there are any. A pipe goes when its last writer has gone."""

    def __init__(self) -> None:
        self._pipes: set[int] = set()
        self._lock = threading.Lock()
        self._running = False

    def adopt(self, pipe: int) -> None:
        """Take over the reading end of a pipe."""
        with self._lock:
            self._pipes.add(pipe)
            if not self._running:
                self._running = True
                threading.Thread(target=self._run, name="envs-forge-drain", daemon=True).start()

    def _run(self) -> None:
        while True:
            with self._lock:
                pipes = list(self._pipes)
                if not pipes:
                    self._running = False
                    return
            poll = select.poll()
            for pipe in pipes:
                poll.register(pipe, select.POLLIN)
            for pipe, _ in poll.poll(100):
                self._read(pipe)
            time.sleep(PAUSE_S)

    def _read(self, pipe: int) -> None:
        with contextlib.suppress(BlockingIOError):
            if os.read(pipe, CHUNK):
                return
            with self._lock:
                self._pipes.discard(pipe)
            os.close(pipe)
