"""A stream of byte chunks as a readable file."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any


class ChunkReader(io.RawIOBase):
    """Reads chunk after chunk; wrap it in `io.BufferedReader`.

    Args:
        chunks: The content in order; its errors come through as they are.
    """

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._left = memoryview(b"")

    def readable(self) -> bool:
        """True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill `buffer` with what comes next; 0 at the end."""
        while not self._left:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._left = memoryview(chunk)
        size = min(len(buffer), len(self._left))
        buffer[:size] = self._left[:size]
        self._left = self._left[size:]
        return size
