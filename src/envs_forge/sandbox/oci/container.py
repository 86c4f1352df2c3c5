"""One runc container whose PID 1 is ours: starts it, hands commands to PID 1, ends it."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import socket
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from envs_forge.errors import DiskFullError, EngineError
from envs_forge.sandbox.forking import start
from envs_forge.sandbox.oci import init
from envs_forge.sandbox.oci.cgroups import Cgroup
from envs_forge.sandbox.oci.command import memory_file
from envs_forge.sandbox.oci.tools import tool

REPLY = struct.Struct("=iii")
HELLO, STARTED, EXITED, REFUSED = 1, 2, 3, 4
CREDENTIALS = struct.Struct("=iII")
START_S = 60.0
END_S = 20.0
PID_1 = ["/proc/self/fd/1"]
"""Where the container finds its first program: the descriptor that runc hands down as its stdout."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What PID 1 says: `kind` is one of the constants above."""

    kind: int
    pid: int
    value: int


class Container:
    """A running container.

    Args:
        name: Its id for runc, and the name of its control groups.
        runtime_root: State directory of runc.
        control: Our end of PID 1's socket.
        runc: The starting runc process.
        pid: PID 1 as the host numbers it.
    """

    def __init__(self, name: str, runtime_root: Path, control: socket.socket, runc: Any, pid: int) -> None:
        self.name = name
        self.cgroup = Cgroup(name)
        self.control = control
        self._runtime_root = runtime_root
        self._runc: subprocess.Popen[bytes] = runc
        self._pid = pid
        self._pidfd = os.pidfd_open(pid)

    @classmethod
    def start(cls, name: str, bundle: Path, runtime_root: Path, spec: dict[str, Any]) -> Self:
        """Start `spec` and wait until PID 1 says hello.

        Args:
            name: Id of the container.
            bundle: An existing directory for runc's configuration and log.
            runtime_root: State directory of runc.
            spec: Its `process.args` must be `PID_1`.

        Raises:
            EngineError: It did not start; nothing of it is left running, but what runc made must be removed.
        """
        (bundle / "config.json").write_text(json.dumps(spec))
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        log = bundle / "runc.log"
        try:
            with theirs, log.open("wb") as errors:
                runc = start(
                    [tool("runc"), "--root", str(runtime_root), "run", "--detach", "--bundle", str(bundle), name],
                    stdin=theirs.fileno(),
                    stdout=init.program(),
                    stderr=errors,
                    start_new_session=True,
                )
            try:
                return cls(name, runtime_root, ours, runc, _hello(ours, log))
            except BaseException:
                runc.kill()
                runc.wait()
                raise
        except OSError as error:
            ours.close()
            raise EngineError(f"runc could not be run: {error}") from error
        except BaseException:
            ours.close()
            raise

    def request(self, content: bytes, streams: tuple[int, int, int]) -> None:
        """Ask PID 1 to start a command.

        Args:
            content: From `Command.encode`.
            streams: Descriptors of stdin, stdout and stderr; the caller closes its own.

        Raises:
            BrokenPipeError: PID 1 is gone.
        """
        blob = memory_file("envs-forge-request", content)
        try:
            socket.send_fds(self.control, [struct.pack("=Q", len(content))], [blob, *streams])
        except ConnectionResetError as error:
            raise BrokenPipeError from error
        finally:
            os.close(blob)

    def reply(self) -> Reply | None:
        """The next word of PID 1, waited for; None when it is gone."""
        try:
            message = self.control.recv(REPLY.size)
        except ConnectionResetError:
            return None
        return Reply(*REPLY.unpack(message)) if len(message) == REPLY.size else None

    def is_alive(self) -> bool:
        """Whether PID 1 runs."""
        return not _readable(self._pidfd, 0)

    def registered(self) -> None:
        """Wait until runc has written everything down, so that `runc exec` finds the container."""
        try:
            self._runc.wait(START_S)
        except subprocess.TimeoutExpired as error:
            raise EngineError("runc does not end", code="timeout") from error

    def end(self) -> None:
        """Kill everything in it and remove what runc made. Idempotent.

        Raises:
            EngineError: Something does not die.
        """
        if self._pidfd >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
            if not _readable(self._pidfd, END_S):
                raise EngineError(f"PID 1 of sandbox {self.name} does not die", code="unkillable")
            self.registered()
            with contextlib.suppress(ChildProcessError):  # ours only where this process is a subreaper or init
                os.waitpid(self._pid, os.WNOHANG)
            os.close(self._pidfd)
            self._pidfd = -1
        remove(self.name, self._runtime_root)


def remove(name: str, runtime_root: Path) -> None:
    """Remove what a container leaves: processes in its groups, the groups, runc's record of it."""
    cgroup = Cgroup(name)
    cgroup.kill()
    cgroup.remove()
    shutil.rmtree(runtime_root / name, ignore_errors=True)


def _hello(control: socket.socket, log: Path) -> int:
    """Wait for PID 1's first word; the kernel tells who sent it."""
    if not _readable(control.fileno(), START_S):
        raise EngineError(f"runc did not start a sandbox in {START_S:g} s", code="timeout")
    message, ancillary, _, _ = control.recvmsg(REPLY.size, socket.CMSG_SPACE(CREDENTIALS.size))
    control.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 0)
    if len(message) != REPLY.size or not ancillary or REPLY.unpack(message)[0] != HELLO:
        raise _failure(log)
    return int(CREDENTIALS.unpack(ancillary[0][2][: CREDENTIALS.size])[0])


def _readable(descriptor: int, seconds: float) -> bool:
    """Wait until there is something to read; unlike select(2), for descriptors of any number."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


def _failure(log: Path) -> EngineError | DiskFullError:
    text = log.read_text(errors="replace").strip()
    if "no space left on device" in text:
        return DiskFullError("the disk is full: runc could not start a sandbox")
    return EngineError(f"runc could not start a sandbox: {text.splitlines()[-1][:500] if text else 'no reason given'}")
