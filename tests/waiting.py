"""How tests wait for what another thread or process does: for the thing itself, never for a length of time."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

PATIENCE_S = 60.0
POLL_S = 0.01


def eventually(condition: Callable[[], bool], patience_s: float = PATIENCE_S) -> bool:
    """Whether something comes true before patience ends; a loaded machine may need many times its usual moment."""
    end = time.monotonic() + patience_s
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(POLL_S)
    return True


def wait_until(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Wait for what a process is going to do. Raises AssertionError with its output where it ends before."""

    def over() -> bool:
        return condition() or process.poll() is not None

    assert eventually(over, 2 * PATIENCE_S), "it never came to that"
    assert process.poll() is None or condition(), process.communicate()


def command_lines() -> list[str]:
    """Command lines of all processes that this machine shows, those in containers included."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(path.read_bytes().replace(b"\0", b" ").decode(errors="replace").strip())
        except OSError:
            continue
    return found
