"""Shows progress on stderr: one live line on a terminal, a plain line now and then elsewhere, nothing when quiet."""

from __future__ import annotations

import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_LIVE_S = 0.2
_PLAIN_S = 10.0
_CLEAR = "\r\x1b[2K"


class Display:
    """Shows a line that changes.

    Args:
        line: Gives the present line.
        phase: Gives the present phase; a plain display speaks up when it changes.
        quiet: Show nothing but notes.
    """

    def __init__(self, line: Callable[[], str], phase: Callable[[], str], *, quiet: bool = False) -> None:
        self._line, self._phase, self._quiet = line, phase, quiet
        self._live = sys.stderr.isatty() and os.environ.get("TERM") != "dumb" and not quiet
        self._lock = threading.RLock()
        self._ended = threading.Event()
        self._said = ""

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Show progress while the block runs."""
        thread = threading.Thread(target=self._show_live if self._live else self._show_plain, daemon=True)
        if not self._quiet:
            thread.start()
        try:
            yield
        finally:
            self._ended.set()
            if not self._quiet:
                thread.join()
                if (line := self._line()) != self._said:
                    self._write(f"{_CLEAR}{line}\n" if self._live else f"{line}\n")

    def note(self, text: str) -> None:
        """A line of its own, above the live one. Safe in a signal handler."""
        self._write(f"{_CLEAR if self._live else ''}{text}\n")

    def _show_live(self) -> None:
        while not self._ended.wait(_LIVE_S):
            width = shutil.get_terminal_size().columns
            self._write(_CLEAR + self._line()[: width - 1])

    def _show_plain(self) -> None:
        """A line at every change of phase, and one every ten seconds when there is something new to say."""
        phase = ""
        waited = _PLAIN_S
        while not self._ended.wait(_LIVE_S):
            waited += _LIVE_S
            if waited < _PLAIN_S and self._phase() == phase:
                continue
            phase, waited = self._phase(), 0.0
            if (line := self._line()) != self._said:
                self._said = line
                self._write(f"{line}\n")

    def _write(self, text: str) -> None:
        with self._lock:
            sys.stderr.write(text)
            sys.stderr.flush()
