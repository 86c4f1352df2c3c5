"""What one run of a bundle's tests said: data only. `verifier.py` produces it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from pydantic import BaseModel, ConfigDict


class Isolation(StrEnum):
    """Where the tests ran: over what the agent left, beside its processes, or elsewhere with its artifacts only."""

    FRESH = "fresh"
    LIVE = "live"
    SEPARATE = "separate"


class RewardFault(StrEnum):
    """Why there is no reward. None of these is ever read as 0."""

    MISSING = "reward-missing"
    EMPTY = "reward-empty"
    UNPARSABLE = "reward-unparsable"
    NOT_FINITE = "reward-not-finite"
    OUT_OF_RANGE = "reward-out-of-range"
    CONFLICT = "reward-conflict"
    NOT_A_FILE = "reward-not-a-file"
    TOO_LARGE = "reward-too-large"
    TIMEOUT = "verifier-timeout"


class Verification(BaseModel):
    """The outcome of one run of `tests/test.sh`.

    Exactly one of `reward` (finite, in [0, 1]) and `fault` is set.
    """

    model_config = ConfigDict(frozen=True)

    reward: float | None
    fault: RewardFault | None
    metrics: Mapping[str, float] = {}
    tests: Mapping[str, bool] = {}
    """Single tests → whether they passed, where they report it; looked for over the untouched image only."""
    isolation: Isolation = Isolation.FRESH
    exit_code: int | None = None
    oom: bool = False
    limits: tuple[str, ...] = ()
    """Limits other than memory that the tests met: `disk`, `processes`."""
    duration_s: float = 0.0
    restored: tuple[str, ...] = ()
    """Protected paths at which the tests saw the image and not the agent's change; the first where there are many."""
    output_tail: str = ""
    """The last part of stdout and stderr, decoded with replacement, for people to read."""
