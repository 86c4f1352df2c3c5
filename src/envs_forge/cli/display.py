"""Shows progress on stderr: a live table and line on a terminal, a plain line now and then elsewhere, or nothing."""

from __future__ import annotations

import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

_LIVE_S = 0.2
_PLAIN_S = 10.0
_CLEAR = "\r\x1b[2K"


class Display:
    """Shows a line that changes, and on a terminal rows above it.

    Args:
        line: Gives the present line.
        phase: Gives the present phase; a plain display speaks up when it changes.
        quiet: Show nothing but notes.
        rows: Gives the rows for a terminal of so many columns and lines.
    """

    def __init__(
        self,
        line: Callable[[], str],
        phase: Callable[[], str],
        *,
        quiet: bool = False,
        rows: Callable[[int, int], Sequence[str]] = lambda columns, lines: (),
    ) -> None:
        self._line, self._phase, self._quiet, self._rows = line, phase, quiet, rows
        self._live = sys.stderr.isatty() and os.environ.get("TERM") != "dumb" and not quiet
        self._drawn = 0
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
                    self._write(f"{line}\n")

    def note(self, text: str) -> None:
        """A line of its own, above what is live. Safe in a signal handler."""
        self._write(f"{text}\n")

    def _show_live(self) -> None:
        while not self._ended.wait(_LIVE_S):
            columns, lines = shutil.get_terminal_size()
            rows = [row[: columns - 1] for row in self._rows(columns, lines - 2)]
            self._write("".join(f"{row}\n" for row in rows) + _CLEAR + self._line()[: columns - 1], rows=len(rows))

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

    def _write(self, text: str, *, rows: int = 0) -> None:
        """Put text in the place of what is live; its first `rows` lines are live themselves."""
        with self._lock:
            up = f"\r\x1b[{self._drawn}A\x1b[J" if self._drawn else ""
            sys.stderr.write((up or _CLEAR) + text if self._live else text)
            self._drawn = rows
            sys.stderr.flush()
