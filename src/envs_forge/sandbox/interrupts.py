"""Holds Ctrl-C back while something is being removed, so that a second one does not break the clean-up."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def deferred_interrupts() -> Iterator[None]:
    """Let SIGINT and SIGTERM arrive only at the end of the block. Does nothing outside the main thread.

    The block must be short: nothing stops it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    arrived: list[tuple[int, FrameType | None]] = []
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    before = {number: handler for number, handler in handlers.items() if handler is not None}
    for number in before:
        signal.signal(number, lambda got, frame: arrived.append((got, frame)))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for got, _ in arrived[:1]:
            signal.raise_signal(got)
