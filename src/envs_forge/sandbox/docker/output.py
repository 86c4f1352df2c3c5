"""Takes apart the multiplexed stream of an exec and keeps a capped amount of it."""

from __future__ import annotations

import struct

HEADER = struct.Struct(">BxxxL")
STDERR = 2


class Output:
    """What a command wrote, up to a limit for each stream; the rest is counted as truncated and dropped.

    Args:
        limit: Bytes kept of each stream.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.stdout = bytearray()
        self.stderr = bytearray()
        self.truncated = False
        self._pending = bytearray()
        self._stream = 0
        self._left = 0

    def feed(self, data: bytes) -> None:
        """Take bytes of the multiplexed stream, cut anywhere."""
        view = memoryview(data)
        while view:
            if self._left:
                taken = view[: self._left]
                self._keep(taken)
                self._left -= len(taken)
                view = view[len(taken) :]
            else:
                view = self._header(view)

    def _header(self, view: memoryview) -> memoryview:
        missing = HEADER.size - len(self._pending)
        self._pending += view[:missing]
        if len(self._pending) == HEADER.size:
            self._stream, self._left = HEADER.unpack(self._pending)
            self._pending.clear()
        return view[missing:]

    def _keep(self, data: memoryview) -> None:
        kept = self.stderr if self._stream == STDERR else self.stdout
        room = self.limit - len(kept)
        kept += data[: max(room, 0)]
        if len(data) > room:
            self.truncated = True
