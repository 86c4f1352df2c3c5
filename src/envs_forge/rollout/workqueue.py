"""What workers do next: a queue with priorities, delays and an end."""

from __future__ import annotations

import heapq
import itertools
import threading
import time
from typing import Generic, TypeVar

Item = TypeVar("Item")


class WorkQueue(Generic[Item]):
    """Hands items to worker threads, lowest priority first, and knows when nothing more can come.

    `expect` announces work before it can be handed out; an announced item counts as open until `done`. `take` gives
    None when all that was announced is done, or after `close`.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._ready: list[tuple[tuple[int, ...], int, Item]] = []
        self._delayed: list[tuple[float, int, tuple[int, ...], Item]] = []
        self._tiebreak = itertools.count()
        self._open = 0
        self._closed = False

    def expect(self, count: int) -> None:
        """Announce `count` items."""
        with self._changed:
            self._open += count

    def put(self, item: Item, priority: tuple[int, ...], *, delay_s: float = 0.0) -> None:
        """Hand in an announced item; it is given out after `delay_s` at the earliest."""
        with self._changed:
            if delay_s > 0:
                due = time.monotonic() + delay_s
                heapq.heappush(self._delayed, (due, next(self._tiebreak), priority, item))
            else:
                heapq.heappush(self._ready, (priority, next(self._tiebreak), item))
            self._changed.notify()

    def done(self, count: int = 1) -> None:
        """`count` announced items need nothing more."""
        with self._changed:
            self._open -= count
            if self._open <= 0:
                self._changed.notify_all()

    @property
    def open(self) -> int:
        """Announced items that are not done."""
        return self._open

    def join(self, timeout_s: float) -> None:
        """Wait until all that was announced is done, or the queue is closed, at most `timeout_s`."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._open <= 0, timeout_s)

    def close(self) -> None:
        """Give nothing out any more and wake everybody."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def take(self) -> Item | None:
        """The next item, waiting for it; None at the end."""
        with self._changed:
            while not self._closed and self._open > 0:
                wait = self._release_due()
                if self._ready:
                    return heapq.heappop(self._ready)[2]
                self._changed.wait(wait)
            return None

    def _release_due(self) -> float | None:
        """Move what is due to the ready heap; seconds until the next, None where nothing is delayed."""
        now = time.monotonic()
        while self._delayed and self._delayed[0][0] <= now:
            _, tiebreak, priority, item = heapq.heappop(self._delayed)
            heapq.heappush(self._ready, (priority, tiebreak, item))
        return self._delayed[0][0] - now if self._delayed else None
