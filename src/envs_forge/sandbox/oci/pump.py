"""Waits for one command: drains its output, listens to PID 1, keeps an eye on the clock."""

from __future__ import annotations

import array
import contextlib
import fcntl
import os
import select
import termios
import time
from dataclasses import dataclass

from envs_forge.sandbox.oci.container import EXITED, REFUSED, STARTED, Container

CHUNK = 256 * 1024
LINGER_S = 0.1
"""How long output may still trickle in after the command ended, while something that it left holds the stream."""


class Stream:
    """One output of a command, kept up to a limit, drained beyond it.

    Args:
        limit: Bytes kept.
    """

    def __init__(self, limit: int) -> None:
        self.kept = bytearray()
        self.truncated = False
        self._limit = limit
        self.source, self.sink = os.pipe2(os.O_CLOEXEC)
        os.fchmod(self.sink, 0o666)  # so that a command of any user can open /dev/stderr
        os.set_blocking(self.source, False)

    def opened(self) -> None:
        """The command has its own copy of the sink now."""
        if self.sink >= 0:
            os.close(self.sink)
            self.sink = -1

    @property
    def at_end(self) -> bool:
        """Whether nobody can write any more."""
        return self.source < 0

    def read(self, most: int = CHUNK) -> int:
        """Take what is there, up to `most` bytes; returns how many it was. Closes the stream at its end."""
        try:
            data = os.read(self.source, most)
        except BlockingIOError:
            return 0
        if not data:
            self.close()
            return 0
        room = self._limit - len(self.kept)
        self.kept += data[: max(room, 0)]
        self.truncated = self.truncated or len(data) > room
        return len(data)

    def read_rest(self) -> None:
        """Take what lies in the pipe at this moment, and no more, however fast somebody goes on writing."""
        left = 0 if self.at_end else _waiting(self.source)
        while left > 0 and not self.at_end:
            left -= self.read(min(left, CHUNK)) or left
        if not self.at_end and not _waiting(self.source):
            self.read()

    def close(self) -> None:
        """Give both ends up. Idempotent."""
        self.opened()
        if self.source >= 0:
            os.close(self.source)
            self.source = -1

    def detach(self) -> int | None:
        """Give the reading end away; None at the end of the stream."""
        source, self.source = self.source, -1
        return source if source >= 0 else None


@dataclass(frozen=True, slots=True)
class Ended:
    """How waiting ended: with a wait status, with an errno (nothing was started), or with neither.

    `dead` says that PID 1, and so everything, is gone. Otherwise, without a status, time was over.
    """

    status: int | None = None
    refused: int | None = None
    dead: bool = False


class Pump:
    """Attends one command in `container`.

    Args:
        container: Where it runs.
        streams: Its stdout and stderr.
    """

    def __init__(self, container: Container, streams: tuple[Stream, Stream]) -> None:
        self._container = container
        self._streams = streams
        self._pid: int | None = None

    def until(self, deadline: float) -> Ended:
        """Move bytes until the command is over or `deadline` (of the monotonic clock) has come."""
        return self._loop(deadline, self._container.control.fileno())

    def trickle(self) -> None:
        """After the command's end: take what is in the pipes, and wait a moment for whoever still writes."""
        for stream in self._streams:
            stream.read_rest()
        self._loop(time.monotonic() + LINGER_S, None)

    def _loop(self, deadline: float, control: int | None) -> Ended:
        poll = select.poll()
        if control is not None:
            poll.register(control, select.POLLIN)
        sources = {stream.source: stream for stream in self._streams if not stream.at_end}
        for source in sources:
            poll.register(source, select.POLLIN)
        while (left := deadline - time.monotonic()) > 0 and (sources or control is not None):
            for descriptor, _ in poll.poll(min(left * 1000 + 1, 2**31 - 1)):
                stream = sources.get(descriptor)
                if stream is None:
                    if (ended := self._listen()) != Ended():
                        return ended
                    continue
                stream.read()
                if stream.at_end:
                    poll.unregister(descriptor)
                    del sources[descriptor]
        return Ended()

    def _listen(self) -> Ended:
        """What PID 1 says of this command; the end of an earlier one, which nobody waited for, says nothing."""
        reply = self._container.reply()
        if reply is None:
            return Ended(dead=True)
        if reply.kind == STARTED:
            self._pid = reply.pid
        elif reply.kind == EXITED and reply.pid == self._pid:
            return Ended(status=reply.value)
        elif reply.kind == REFUSED:
            return Ended(refused=reply.value)
        return Ended()


def _waiting(descriptor: int) -> int:
    """Bytes that lie in a pipe."""
    size = array.array("i", [0])
    with contextlib.suppress(OSError):
        fcntl.ioctl(descriptor, termios.FIONREAD, size)
    return size[0]
