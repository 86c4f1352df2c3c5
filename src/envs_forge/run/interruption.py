"""Ctrl-C, SIGTERM and a lost terminal ask to stop: the first is heeded, others cannot break the clean-up."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def heeded(announce: Callable[[str], None]) -> Iterator[threading.Event]:
    """A block in which signals set an event instead of raising.

    Args:
        announce: Told what is going on, once a signal. Must not block.

    Yields:
        The event; whoever works in the block looks at it and stops.
    """
    stop = threading.Event()

    def on_signal(number: int, frame: FrameType | None) -> None:
        announce("still stopping, please wait" if stop.is_set() else "stopping: cleaning up first")
        stop.set()

    old = {number: signal.signal(number, on_signal) for number in _SIGNALS}
    try:
        yield stop
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
