"""Caps on what synthesis may spend, asked before every request with its worst case, never after."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from envs_forge.config import BudgetSettings
from envs_forge.errors import ForgeError, UserError
from envs_forge.models.faults import cancelled

_WATCH_S = 0.1


class BudgetReachedError(ForgeError):
    """The next request could exceed a cap. What was paid for is kept."""


@dataclass(frozen=True)
class Spend:
    """Requests, tokens and money; `usd` is None where a price is not known."""

    calls: int = 0
    tokens: int = 0
    usd: float | None = 0.0

    def plus(self, other: Spend) -> Spend:
        """The sum; money that is not known makes it unknown."""
        usd = None if self.usd is None or other.usd is None else self.usd + other.usd
        return Spend(self.calls + other.calls, self.tokens + other.tokens, usd)


class Budget:
    """What was spent, what is under way, and whether one more request fits. Any number of threads may use it.

    A request is reserved at its worst and settled with what it took. Where it does not fit only because of what others
    have reserved, it waits for them.

    Args:
        caps: The caps; None is no cap, 0 is nothing at all.
        spent: What earlier sessions spent; requests that were perhaps paid count at their worst.
        seconds: How long earlier sessions were at it.
        clock: Seconds, for tests.
    """

    def __init__(
        self,
        caps: BudgetSettings,
        spent: Spend = Spend(),
        seconds: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._caps, self._spent, self._before, self._clock = caps, spent, seconds, clock
        self._open: dict[int, Spend] = {}
        self._next = 0
        self._began: float | None = None
        self._changed = threading.Condition()

    @property
    def spent(self) -> Spend:
        """What is settled or lost; requests under way are not in it."""
        with self._changed:
            return self._spent

    def reserve(self, worst: Spend, longest_s: float, over: Callable[[], bool] = lambda: False) -> int:
        """Set aside what a request may take at most, and return a number to settle it by.

        Args:
            worst: One call, its tokens and money.
            longest_s: Seconds that it may take.
            over: Asked before and while waiting for other requests; True ends that.

        Raises:
            BudgetReachedError: It could exceed a cap whatever the requests under way take.
            InfrastructureError: It is over: nothing more is to be asked.
        """
        with self._changed:
            while True:
                if over():
                    raise cancelled()
                self._require(self._spent.plus(worst), longest_s)
                if not self._fault(self._total().plus(worst)):
                    self._next += 1
                    self._open[self._next] = worst
                    return self._next
                self._changed.wait(_WATCH_S)

    def settle(self, number: int, took: Spend | None = None) -> None:
        """Put what a request took in the place of its reservation; None: nothing was spent on it."""
        with self._changed:
            if self._open.pop(number, None) is not None and took is not None:
                self._spent = self._spent.plus(took)
            self._changed.notify_all()

    def lose(self, number: int) -> None:
        """A request ended without anybody knowing what it took: it counts at its worst."""
        with self._changed:
            self._spent = self._spent.plus(self._open.pop(number))
            self._changed.notify_all()

    def _total(self) -> Spend:
        total = self._spent
        for worst in self._open.values():
            total = total.plus(worst)
        return total

    def _require(self, wanted: Spend, longest_s: float) -> None:
        fault = self._fault(wanted)
        if self._began is None:
            self._began = self._clock()
        minutes = self._caps.minutes
        if minutes is not None and self._before + self._clock() - self._began + longest_s > minutes * 60:
            fault = f"the cap of {minutes:g} minutes"
        if fault:
            raise BudgetReachedError(f"the next request could exceed {fault}", fix="resume with a higher cap")

    def _fault(self, wanted: Spend) -> str:
        """The cap that would be exceeded, empty when none would."""
        caps = self._caps
        if caps.calls is not None and wanted.calls > caps.calls:
            return f"the cap of {caps.calls} calls"
        if caps.tokens is not None and wanted.tokens > caps.tokens:
            return f"the cap of {caps.tokens} tokens"
        if caps.usd is not None and (wanted.usd is None or wanted.usd > caps.usd):
            return f"the cap of ${caps.usd:g}"
        return ""


def require_time(caps: BudgetSettings, longest_s: float) -> None:
    """Refuse a cap on time that leaves no room for a single request.

    Raises:
        UserError: With the fix.
    """
    if caps.minutes and caps.minutes * 60 < longest_s:
        raise UserError(
            f"{caps.minutes:g} minutes are less than one request may take ({longest_s:g} s)",
            fix="raise --max-minutes, or lower timeout_s of the endpoint in the config file",
        )


def require_prices(caps: BudgetSettings, *, known: bool, role: str) -> None:
    """Refuse a cap on money where a price is not known: it could never fire.

    Raises:
        UserError: With the fix.
    """
    if caps.usd is not None and not known:
        flag = "--price" if role == "generator" else f"--{role}-price"
        raise UserError(
            f"a cap on money needs the price of the {role}'s tokens",
            fix=f"give {flag} PROMPT:COMPLETION in dollars a million tokens, or cap --max-tokens",
        )
