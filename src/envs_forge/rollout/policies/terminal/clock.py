"""The agent's clock: what the endpoint's faults and waits took is not the agent's time."""

from __future__ import annotations

import time


class AgentClock:
    """Counts down from the time that the agent has.

    Args:
        seconds: That time.
    """

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds; below 0 when it is over."""
        return self._end - time.monotonic()

    def give_back(self, seconds: float) -> None:
        """Add time that was lost through no doing of the agent."""
        self._end += max(0.0, seconds)
