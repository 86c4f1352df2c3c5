"""Run a trusted program of the host with a time limit, capped output and no survivors."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from envs_forge.sandbox.forking import start

_CHUNK = 65536
_POLL_S = 0.05
_TERM_GRACE_S = 1.0
_DRAIN_S = 2.0


@dataclass(frozen=True, slots=True)
class HostResult:
    """How the program ended. `exit_code` is None when it was killed by us; `tail` is the end of both streams."""

    exit_code: int | None
    tail: bytes
    duration_s: float
    timed_out: bool
    cancelled: bool


class _Tail:
    """Reads a stream to its end in a thread and keeps only the last bytes, so that the writer never blocks."""

    def __init__(self, stream: IO[bytes], limit: int) -> None:
        self._limit = limit
        self._kept = bytearray()
        self._thread = threading.Thread(target=self._read, args=(stream,), daemon=True)
        self._thread.start()

    def _read(self, stream: IO[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError):
            while chunk := os.read(stream.fileno(), _CHUNK):
                self._kept += chunk
                del self._kept[: -self._limit]

    def finish(self) -> bytes:
        self._thread.join(_DRAIN_S)
        return bytes(self._kept)


def run_host_program(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    timeout_s: float,
    output_limit: int,
    cancelled: Callable[[], bool] = lambda: False,
) -> HostResult:
    """Run a program in its own session to its end, its time-out or a cancellation.

    Whatever is left of its process group afterwards is killed.

    Args:
        argv: The command, not passed through a shell.
        cwd: Its working directory.
        env: Its whole environment.
        timeout_s: Wall clock; then SIGTERM to the group, and SIGKILL a second later.
        output_limit: Bytes kept, from the end.
        cancelled: Asked a few times a second; True ends the program as a time-out does.

    Raises:
        OSError: The program cannot be started.
    """
    started = time.monotonic()
    process = start(
        list(argv),
        cwd=cwd,
        env=dict(env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    assert process.stdout is not None
    with process.stdout as stream:
        tail = _Tail(stream, output_limit)
        try:
            ended = _wait(process, started + timeout_s, cancelled)
            if not ended:
                _signal_group(process.pid, signal.SIGTERM)
                _wait(process, time.monotonic() + _TERM_GRACE_S, lambda: False)
        finally:
            _signal_group(process.pid, signal.SIGKILL)
            process.wait()
        kept = tail.finish()
    was_cancelled = not ended and cancelled()
    return HostResult(
        exit_code=process.returncode if ended else None,
        tail=kept,
        duration_s=time.monotonic() - started,
        timed_out=not ended and not was_cancelled,
        cancelled=was_cancelled,
    )


def _wait(process: subprocess.Popen[bytes], deadline: float, cancelled: Callable[[], bool]) -> bool:
    """Whether the process ended by itself before the deadline."""
    while True:
        left = deadline - time.monotonic()
        try:
            process.wait(max(0.0, min(_POLL_S, left)))
            return True
        except subprocess.TimeoutExpired:
            if left <= 0 or cancelled():
                return False


def _signal_group(group: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
