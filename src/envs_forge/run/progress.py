"""How far a run is: counters that workers move and displays read. No display here."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum


class Phase(StrEnum):
    """What the run is doing."""

    STARTING = "starting"
    MEASURING = "measuring"
    PLANNING = "planning"
    MAKING = "making"
    EXPORTING = "exporting"
    ENDED = "ended"


@dataclass(frozen=True)
class SeedProgress:
    """How far the measurement of one seed is: `k` of `n` rollouts, `asked` wanted so far, `last` status."""

    name: str
    k: float = 0.0
    n: int = 0
    spoiled: int = 0
    asked: int = 0
    last: str = ""

    @property
    def state(self) -> str:
        """`waiting`, `measuring` or `measured`."""
        if not self.last:
            return "waiting"
        return "measured" if self.n >= self.asked else "measuring"


class Progress:
    """Counters of one run. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._clock = self._phase_clock = time.monotonic()
        self._phase = self._counted = Phase.STARTING
        self._done = self._before = self._total = 0
        self._in_flight = self._invalid = 0
        self.spent: Callable[[], str] = lambda: ""
        """What synthesis has cost so far, for the line."""
        self._rejected: Counter[str] = Counter()
        self._seeds: dict[str, SeedProgress] = {}

    def seeds_are(self, names: Mapping[str, str], *, asked: int) -> None:
        """Say which seeds are measured, by content hash, and how many rollouts each gets at first."""
        with self._lock:
            self._seeds = {digest: SeedProgress(name, asked=asked) for digest, name in names.items()}

    def note_trial(self, digest: str, status: str, reward: float | None) -> None:
        """A rollout of a seed ended; without a reward it does not count."""
        with self._lock:
            old = self._seeds.get(digest)
            if old is None:
                return
            if reward is None:
                new = replace(old, spoiled=old.spoiled + 1, last=status)
            else:
                n = old.n + 1
                new = replace(old, k=old.k + reward, n=n, asked=max(old.asked, n), last=status)
            self._seeds[digest] = new

    def seeds(self) -> list[SeedProgress]:
        """How far each seed is, in the order in which they were named."""
        with self._lock:
            return list(self._seeds.values())

    @property
    def phase(self) -> Phase:
        """What the run is doing."""
        return self._phase

    def enter(self, phase: Phase, *, done: int = 0, total: int = 0) -> None:
        """Begin a phase of which `done` of `total` were done before."""
        with self._lock:
            self._phase, self._phase_clock = phase, time.monotonic()
            if phase in (Phase.MEASURING, Phase.MAKING):
                self._counted = phase
                self._done = self._before = done
                self._total, self._in_flight = total, 0

    def begin(self) -> None:
        """Something is in flight."""
        with self._lock:
            self._in_flight += 1

    def end(self) -> None:
        """It landed."""
        with self._lock:
            self._in_flight -= 1

    def count(self, number: int = 1) -> None:
        """So much more is done; negative when it has to be done again."""
        with self._lock:
            self._done += number

    def spoil(self) -> None:
        """Something ended without a result that counts: the machine's fault, or the policy's."""
        with self._lock:
            self._invalid += 1

    def reject(self, stage: str) -> None:
        """A candidate was rejected."""
        with self._lock:
            self._rejected[stage] += 1

    def line(self) -> str:
        """The state in one line, e.g. `verified 12/20 · in flight 3 · rejected 2 (build 1, oracle 1) · …`."""
        with self._lock:
            now = time.monotonic()
            parts = [*self._counts(), f"elapsed {clock(now - self._clock)}"]
            left = self._left_s(now)
        return " · ".join(parts if left is None else [*parts, f"left {clock(left)}"])

    def _counts(self) -> list[str]:
        """What the phase counts; after the end what the last phase that counts came to."""
        shown = self._counted if self._phase is Phase.ENDED else self._phase
        if shown is Phase.MEASURING:
            spoiled = [f"not counted {self._invalid}"] if self._invalid else []
            return [f"measured {self._done}/{self._total} rollouts", *spoiled]
        if shown is Phase.MAKING:
            in_flight = [] if self._phase is Phase.ENDED else [f"in flight {self._in_flight}"]
            reasons = ", ".join(f"{stage} {count}" for stage, count in sorted(self._rejected.items()))
            rejected = f"rejected {self._rejected.total()}" + (f" ({reasons})" if reasons else "")
            spent = [told] if (told := self.spent()) else []
            return [f"verified {self._done}/{self._total}", *in_flight, rejected, *spent]
        return [self._phase.value]

    def _left_s(self, now: float) -> float | None:
        done = self._done - self._before
        if self._phase is not self._counted or done <= 0 or self._total <= self._done:
            return None
        return (now - self._phase_clock) / done * (self._total - self._done)


def clock(seconds: float) -> str:
    """Seconds as `m:ss` or `h:mm:ss`."""
    minutes, second = divmod(int(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02d}:{second:02d}" if hours else f"{minute}:{second:02d}"
