"""Runs one command in a container to its end."""

from __future__ import annotations

import os
import time
from dataclasses import replace

from envs_forge.sandbox.engine import ExecResult
from envs_forge.sandbox.oci.command import memory_file
from envs_forge.sandbox.oci.container import Container
from envs_forge.sandbox.oci.drain import Drain
from envs_forge.sandbox.oci.killing import kill_newcomers, now_in_ticks
from envs_forge.sandbox.oci.pump import Ended, Pump, Stream

CANNOT_START = 126
KILLED = 137
DYING_S = 10.0


class Run:
    """One command; used once.

    Args:
        container: Where it runs.
        drain: Gets the output that outlives it.
        output_limit: Bytes kept of each stream.
    """

    def __init__(self, container: Container, drain: Drain, output_limit: int) -> None:
        self._container = container
        self._drain = drain
        self._streams = (Stream(output_limit), Stream(output_limit))
        self._pump = Pump(container, self._streams)

    def run(self, content: bytes, stdin: bytes | None, deadline: float) -> ExecResult:
        """Run the encoded command.

        Args:
            content: From `Command.encode`.
            stdin: What it reads; None is /dev/null.
            deadline: When its time is over, on the monotonic clock.
        """
        cgroup = self._container.cgroup
        began, ticks = time.monotonic(), now_in_ticks()
        before, oom_before, refused_before = cgroup.processes(), cgroup.oom_kills(), cgroup.forks_refused()
        try:
            ended = self._start(content, stdin)
            if ended is None:
                ended = self._pump.until(deadline)
            timed_out = ended == Ended()
            if timed_out:
                kill_newcomers(cgroup, before, ticks)
                self._see_it_dead()
            self._pump.trickle()
            result = self._result(ended, time.monotonic() - began, timed_out, cgroup.oom_kills() > oom_before)
            return replace(result, limits=("processes",)) if cgroup.forks_refused() > refused_before else result
        finally:
            for stream in self._streams:
                stream.opened()
                left = stream.detach()
                if left is not None:
                    self._drain.adopt(left)

    def _start(self, content: bytes, stdin: bytes | None) -> Ended | None:
        """Hand the command over; how it ended when it could not be."""
        source = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC) if stdin is None else memory_file("stdin", stdin)
        try:
            self._container.request(content, (source, self._streams[0].sink, self._streams[1].sink))
        except BrokenPipeError:
            return Ended(dead=True)
        finally:
            os.close(source)
            for stream in self._streams:
                stream.opened()
        return None

    def _see_it_dead(self) -> None:
        """Wait for the command's end after it was killed; if it does not come, end everything."""
        if self._pump.until(time.monotonic() + DYING_S) == Ended():
            self._container.end()

    def _result(self, ended: Ended, seconds: float, timed_out: bool, oom: bool) -> ExecResult:
        stdout, stderr = (bytes(stream.kept) for stream in self._streams)
        code: int | None
        if ended.refused is not None:
            code = CANNOT_START
            stderr += f"envs-forge: no process could be started: {os.strerror(ended.refused)}\n".encode()
        elif ended.dead:
            code = KILLED
        else:
            code = None if ended.status is None else _exit_code(ended.status)
        return ExecResult(
            exit_code=code,
            stdout=stdout,
            stderr=stderr,
            duration_s=seconds,
            timed_out=timed_out,
            truncated=any(stream.truncated for stream in self._streams),
            oom=oom,
        )


def _exit_code(status: int) -> int:
    """As a shell says it: 128 and the signal for a process that was killed."""
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code
