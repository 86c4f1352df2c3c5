"""Runs one build through the `docker` command line, with a time-out and a cap on what is kept of its log."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from envs_forge.errors import DiskFullError, EngineError, PrerequisiteError
from envs_forge.sandbox.docker.connection import NO_ENGINE_FIX, builder_name
from envs_forge.sandbox.docker.container import KIND_LABEL
from envs_forge.sandbox.forking import start
from envs_forge.sandbox.interrupts import deferred_interrupts

LOG_LIMIT = 256 * 1024
TERMINATION_S = 5.0
POLL_S = 0.2


@dataclass(frozen=True, slots=True)
class BuildRun:
    """How a build ended. `log` is the last part of what it said; `exit_code` is None after a time-out."""

    exit_code: int | None
    log: str
    duration_s: float


class Tail:
    """The last bytes of a stream.

    Args:
        limit: How many are kept.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._data = bytearray()

    def drain(self, stream: IO[bytes]) -> None:
        """Read `stream` to its end."""
        while chunk := os.read(stream.fileno(), 65536):
            self._data += chunk
            if len(self._data) > 2 * self._limit:
                del self._data[: -self._limit]

    def text(self) -> str:
        """What was kept, decoded with replacement."""
        return self._data[-self._limit :].decode(errors="replace")


def run_build(
    context: Path,
    tag: str,
    *,
    timeout: float,
    network: bool,
    cancelled: threading.Event | None = None,
    limits: Sequence[str] = (),
    disk_full: Callable[[], bool] = lambda: False,
) -> BuildRun:
    """Build `context` as `tag` in the engine's own builder.

    Args:
        context: Directory with a Dockerfile.
        tag: Name for the image.
        timeout: Seconds after which the build is stopped.
        network: Whether its steps have a network.
        cancelled: When it is set the build is stopped.
        limits: Flags for the builder; see `build_limits`.
        disk_full: Asked now and then; when it says yes the build is stopped.

    Raises:
        PrerequisiteError: There is no `docker` command.
        EngineError: `cancelled` was set before the end.
        DiskFullError: The disk became too full for the build to go on.
    """
    cancelled = cancelled or threading.Event()
    began = time.monotonic()
    try:
        process = start(
            _command(context, tag, network, limits),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except FileNotFoundError as error:
        raise PrerequisiteError("there is no `docker` command", fix=NO_ENGINE_FIX) from error
    assert process.stdout is not None
    tail = Tail(LOG_LIMIT)
    reader = threading.Thread(target=tail.drain, args=(process.stdout,), daemon=True)
    reader.start()
    try:
        code = _wait(process, began + timeout, cancelled, disk_full)
    finally:
        with deferred_interrupts():
            _end(process)
        reader.join(TERMINATION_S)
        process.stdout.close()
    if code is None and cancelled.is_set():
        raise EngineError("the build was stopped", code="stopped")
    if code is None and disk_full():
        raise DiskFullError("the disk is nearly full: a build was stopped")
    return BuildRun(code, tail.text(), time.monotonic() - began)


def _wait(
    process: subprocess.Popen[bytes], deadline: float, cancelled: threading.Event, disk_full: Callable[[], bool]
) -> int | None:
    """The exit code; None at the deadline, or when the build is cancelled or the disk is full."""
    while not cancelled.is_set() and not disk_full() and (left := deadline - time.monotonic()) > 0:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(min(left, POLL_S))
    return None


def _command(context: Path, tag: str, network: bool, limits: Sequence[str]) -> list[str]:
    return [
        *("docker", "buildx", "build", "--builder", builder_name(), "--load"),
        *("--progress", "plain", "--provenance", "false", "--tag", tag),
        *("--network", "default" if network else "none"),
        *("--label", f"{KIND_LABEL}=image"),
        *limits,
        str(context),
    ]


def _end(process: subprocess.Popen[bytes]) -> None:
    """Stop the command with everything that it started; the engine cancels a build whose client is gone."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is not None:
            return
        os.killpg(process.pid, number)
        try:
            process.wait(TERMINATION_S)
        except subprocess.TimeoutExpired:
            continue
