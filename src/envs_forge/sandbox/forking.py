"""Keeps files that are about to be run out of the hands of processes that are just being started.

Between fork and exec a new process holds copies of every open descriptor, those of other threads among them. A program
that was written meanwhile cannot be run as long as such a copy is open for writing (ETXTBSY, "Text file busy").
"""

from __future__ import annotations

import subprocess
import threading
from typing import Any

_starting = threading.Lock()


def start(argv: list[str], **options: Any) -> subprocess.Popen[bytes]:
    """`subprocess.Popen`, one at a time: it returns when the new process has passed its exec."""
    with _starting:
        return subprocess.Popen(argv, **options)


def settle() -> None:
    """Wait until no process that began before now can hold what was just closed."""
    with _starting:
        return
