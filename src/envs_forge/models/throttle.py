"""Back-pressure towards one endpoint: requests in flight, tokens a minute, pauses that it asked for."""

from __future__ import annotations

import itertools
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

WINDOW_S = 60.0
LONGEST_PAUSE_S = 86_400.0
"""A longer one says nothing but that somebody's clock is wrong; so long it can be waited for by a system's timer."""


@dataclass(slots=True)
class Spent:
    """Tokens of one request: what was reserved for it, then what it took."""

    at: float
    tokens: int


class Throttle:
    """Lets requests through in the order in which they came.

    The tokens of a request are reserved at its worst before it starts and corrected once its usage is known. A request
    that alone is more than the minute's tokens goes when nothing else was spent within the minute.

    Args:
        in_flight: Requests at once; None is no limit.
        tokens_per_minute: Within any `window_s` seconds; None is no limit.
        window_s: Length of the window.
    """

    def __init__(self, in_flight: int | None, tokens_per_minute: int | None, window_s: float = WINDOW_S) -> None:
        self._most = in_flight
        self._budget = tokens_per_minute
        self._window_s = window_s
        self._changed = threading.Condition()
        self._tickets = itertools.count()
        self._line: deque[int] = deque()
        self._busy = 0
        self._spent: deque[Spent] = deque()
        self._not_before = 0.0

    def pause(self, seconds: float) -> None:
        """Let nothing through for a while: the endpoint asked for it. Waiters may find that too long."""
        with self._changed:
            self._not_before = max(self._not_before, time.monotonic() + min(seconds, LONGEST_PAUSE_S))
            self._changed.notify_all()

    @property
    def paused_s(self) -> float:
        """Seconds for which nothing will be let through."""
        return max(0.0, self._not_before - time.monotonic())

    def wake(self) -> None:
        """Let waiters ask again whether they should give up."""
        with self._changed:
            self._changed.notify_all()

    @contextmanager
    def slot(self, tokens: int, give_up: Callable[[], bool] = lambda: False) -> Iterator[Spent | None]:
        """Hold a place among the requests in flight.

        Args:
            tokens: The most that the request can take.
            give_up: Asked while waiting; True ends the waiting.

        Yields:
            Its entry in the account, to be corrected; None when it gave up.
        """
        spent = self._enter(tokens, give_up)
        try:
            yield spent
        finally:
            if spent is not None:
                with self._changed:
                    self._busy -= 1
                    self._changed.notify_all()

    def _enter(self, tokens: int, give_up: Callable[[], bool]) -> Spent | None:
        with self._changed:
            ticket = next(self._tickets)
            self._line.append(ticket)
            try:
                while not give_up():
                    wait = self._wait(tokens) if self._line[0] == ticket else None
                    if wait == 0.0:
                        self._busy += 1
                        spent = Spent(time.monotonic(), tokens)
                        self._spent.append(spent)
                        return spent
                    self._changed.wait(wait)
                return None
            finally:
                self._line.remove(ticket)
                self._changed.notify_all()

    def _wait(self, tokens: int) -> float | None:
        """Seconds until the first in line may go: 0 now, None when a request in flight must end first."""
        now = time.monotonic()
        while self._spent and self._spent[0].at <= now - self._window_s:
            self._spent.popleft()
        if self._most is not None and self._busy >= self._most:
            return None
        wait = max(0.0, self._not_before - now)
        if self._budget is not None:
            taken = sum(spent.tokens for spent in self._spent)
            for spent in self._spent:
                if taken + tokens <= self._budget:
                    break
                wait = max(wait, spent.at + self._window_s - now)
                taken -= spent.tokens
        return wait
