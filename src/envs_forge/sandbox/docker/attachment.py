"""The open connection of one running exec: feeds its stdin, drains its output, keeps an eye on the clock."""

from __future__ import annotations

import contextlib
import selectors
import socket
import ssl
import time
from collections.abc import Callable
from typing import Any

from envs_forge.sandbox.docker.output import Output

CHUNK = 256 * 1024
FIRST_IDLE_S = 0.05
LONGEST_IDLE_S = 1.0
LINGER_S = 0.1
"""How long output may still trickle in after the command ended, while something it left holds the stream."""

NOT_NOW = (BlockingIOError, InterruptedError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


class Attachment:
    """Talks to an exec over the socket that the SDK opened for it.

    Args:
        opened: What `exec_start(socket=True)` returned.
        output: Takes what the command writes.
        stdin: What the command reads; None where the exec has no stdin.
    """

    def __init__(self, opened: Any, output: Output, stdin: bytes | None) -> None:
        self._opened = opened
        self._socket: socket.socket = getattr(opened, "_sock", opened)
        self._socket.setblocking(False)
        self._output = output
        self._stdin = memoryview(stdin or b"")
        if stdin == b"":
            self._end_stdin()

    def pump(self, deadline: float, running: Callable[[], bool]) -> bool:
        """Move bytes until the command is over or `deadline` (of the monotonic clock) has come.

        Args:
            deadline: When to give up.
            running: Asks the engine whether the command runs; called only while nothing moves.

        Returns:
            False when the deadline came first.
        """
        self._output.feed(self._already_read())
        idle, last = FIRST_IDLE_S, deadline
        with selectors.DefaultSelector() as selector:
            selector.register(self._socket, selectors.EVENT_READ)
            while (now := time.monotonic()) < last:
                selector.modify(self._socket, self._interests())
                if self._wait(selector, min(idle, last - now)):
                    if not self._receive():
                        return True
                elif last == deadline:
                    idle = min(idle * 2, LONGEST_IDLE_S)
                    if not running():
                        last = min(deadline, time.monotonic() + LINGER_S)
        return last < deadline

    def close(self) -> None:
        """Drop the connection. The command itself is not killed by it."""
        response = getattr(self._opened, "_response", None)
        if response is not None:
            response.close()
        with contextlib.suppress(OSError, ValueError):
            self._socket.close()

    def _interests(self) -> int:
        return selectors.EVENT_READ | (selectors.EVENT_WRITE if self._stdin else 0)

    def _wait(self, selector: selectors.BaseSelector, seconds: float) -> bool:
        """Wait for something to read, feeding stdin meanwhile; False when nothing moved."""
        if self._buffered():
            return True
        ready = selector.select(seconds)
        if ready and ready[0][1] & selectors.EVENT_WRITE:
            self._send()
        return bool(ready)

    def _receive(self) -> bool:
        """Take what there is; False at the end of the stream."""
        try:
            data = self._socket.recv(CHUNK)
        except NOT_NOW:
            return True
        except ConnectionError:
            return False
        self._output.feed(data)
        return bool(data)

    def _send(self) -> None:
        try:
            self._stdin = self._stdin[self._socket.send(self._stdin[:CHUNK]) :]
        except NOT_NOW:
            return
        except ConnectionError:
            self._stdin = memoryview(b"")
        if not self._stdin:
            self._end_stdin()

    def _end_stdin(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)

    def _buffered(self) -> bool:
        """Whether a TLS layer holds bytes that the selector cannot see."""
        pending = getattr(self._socket, "pending", None)
        return bool(pending and pending())

    def _already_read(self) -> bytes:
        """Bytes of the stream that came in one packet with the HTTP header and sit in the SDK's buffer."""
        response = getattr(self._opened, "_response", None)
        reader = getattr(getattr(getattr(response, "raw", None), "_fp", None), "fp", None)
        if reader is None or not hasattr(reader, "peek"):
            return b""
        held = reader.peek()
        return bytes(reader.read1(len(held))) if held else b""
