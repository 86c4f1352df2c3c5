"""Tells whether the memory limit killed something while a command ran."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import docker

SETTLE_S = 0.05
KILLED = 137


class OomWatch:
    """Looks at one container's out-of-memory kills.

    The engine keeps a flag that stays set after the first kill; from then on its event log is asked.

    Args:
        client: Connection to the engine.
        container: The container.
        skew: Seconds that the engine's clock is ahead of this machine's.
    """

    def __init__(self, client: docker.APIClient, container: str, skew: float) -> None:
        self._client = client
        self._container = container
        self._skew = skew
        self._flagged = False

    def happened_since(self, started: float, exit_code: int | None) -> bool:
        """Whether there was a kill since `started` (seconds since the epoch).

        Args:
            started: When the command started.
            exit_code: How it ended; after a SIGKILL the engine is given a moment to learn why.
        """
        flag = self._flag()
        if not flag and exit_code == KILLED:
            time.sleep(SETTLE_S)
            flag = self._flag()
        if not flag:
            self._flagged = False
            return False
        if not self._flagged:
            self._flagged = True
            return True
        return self._events_since(started)

    def _flag(self) -> bool:
        return bool(self._client.inspect_container(self._container)["State"]["OOMKilled"])

    def _events_since(self, started: float) -> bool:
        events = self._client.events(
            since=f"{started + self._skew:.6f}",
            until=f"{time.time() + self._skew:.6f}",
            filters={"container": self._container, "event": "oom"},
            decode=True,
        )
        return any(True for _ in events)


def clock_skew(engine_time: str) -> float:
    """Seconds that an engine's clock, read just now as RFC 3339 text, is ahead of ours."""
    text = engine_time[:26].rstrip("Z") if "." in engine_time else engine_time[:19]
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() - time.time()
