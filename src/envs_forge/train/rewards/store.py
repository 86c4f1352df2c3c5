"""Rewards that containers gave, on disk: SQLite, so that several processes may share one file."""

from __future__ import annotations

import contextlib
import fcntl
import json
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from envs_forge.errors import DiskFullError, InfrastructureError, UserError
from envs_forge.train.rewards.deed import DeedKey

_SCHEMA = """
CREATE TABLE IF NOT EXISTS rewards (
    bundle_hash TEXT NOT NULL, commands TEXT NOT NULL, reward REAL NOT NULL CHECK (reward BETWEEN 0 AND 1),
    engine TEXT NOT NULL, duration_s REAL NOT NULL, at TEXT NOT NULL, failed TEXT NOT NULL,
    PRIMARY KEY (bundle_hash, commands)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS audits (
    bundle_hash TEXT NOT NULL, commands TEXT NOT NULL, kept REAL NOT NULL, again REAL NOT NULL, at TEXT NOT NULL
);
"""
_BUSY_S = 60.0


class RewardStore:
    """Rewards by deed, and what audits found. Thread-safe; use as a context manager.

    Args:
        path: The file; made when it is not there.

    Raises:
        UserError: It holds something else.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        path.parent.mkdir(parents=True, exist_ok=True)
        with _faults(path):
            self._connection = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False)
            with _alone(path):
                _prepare(self._connection)
            rows = self._connection.execute("SELECT bundle_hash, commands, reward FROM rewards").fetchall()
        self._known: dict[DeedKey, float] = {(bundle, commands): reward for bundle, commands, reward in rows}

    def get(self, key: DeedKey) -> float | None:
        """The kept reward of a deed, or None. Sees what other processes have kept since."""
        if (known := self._known.get(key)) is not None:
            return known
        with self._lock, _faults(self._path):
            row = self._connection.execute(
                "SELECT reward FROM rewards WHERE bundle_hash = ? AND commands = ?", key
            ).fetchone()
        if row is not None:
            self._known[key] = row[0]
        return row[0] if row is not None else None

    def failed(self, key: DeedKey) -> tuple[str, ...]:
        """Names of the tests that failed when the kept reward of a deed was obtained; none for an unknown deed."""
        with self._lock, _faults(self._path):
            row = self._connection.execute(
                "SELECT failed FROM rewards WHERE bundle_hash = ? AND commands = ?", key
            ).fetchone()
        return tuple(json.loads(row[0])) if row is not None else ()

    def put(self, key: DeedKey, reward: float, *, engine: str, duration_s: float, failed: Sequence[str] = ()) -> float:
        """Keep the first reward of a deed; one that another process kept meanwhile stays, and the two are compared.

        Returns:
            The reward that is kept.
        """
        with self._lock, _faults(self._path):
            done = self._connection.execute(
                "INSERT OR IGNORE INTO rewards VALUES (?, ?, ?, ?, ?, ?, ?)",
                (*key, reward, engine, duration_s, _now(), json.dumps(list(failed), ensure_ascii=False)),
            )
        kept = reward if done.rowcount else self.get(key)
        if kept is None:
            raise InfrastructureError(f"{self._path} lost a reward", code="reward-store")
        self._known[key] = kept
        if not done.rowcount:
            self.audit(key, kept, reward)
        return kept

    def audit(self, key: DeedKey, kept: float, again: float) -> None:
        """Keep what a further container said of a deed."""
        with self._lock, _faults(self._path):
            self._connection.execute("INSERT INTO audits VALUES (?, ?, ?, ?, ?)", (*key, kept, again, _now()))

    def audited_keys(self) -> set[DeedKey]:
        """Deeds that were audited."""
        with self._lock, _faults(self._path):
            return set(self._connection.execute("SELECT DISTINCT bundle_hash, commands FROM audits"))

    def audited(self) -> tuple[int, list[DeedKey]]:
        """How many audits there were, and the deeds on which containers differ."""
        with self._lock, _faults(self._path):
            rows = self._connection.execute("SELECT bundle_hash, commands, kept, again FROM audits").fetchall()
        return len(rows), sorted({(bundle, commands) for bundle, commands, kept, again in rows if kept != again})

    def __len__(self) -> int:
        with self._lock, _faults(self._path):
            return int(self._connection.execute("SELECT count(*) FROM rewards").fetchone()[0])

    def close(self) -> None:
        """Close the file. Idempotent."""
        with self._lock:
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _prepare(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.executescript(_SCHEMA)
    if "failed" not in {row[1] for row in connection.execute("PRAGMA table_info(rewards)")}:
        # Rewards from before failed tests were kept stay good.
        connection.execute("ALTER TABLE rewards ADD COLUMN failed TEXT NOT NULL DEFAULT '[]'")


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[None]:
    """One process at a time: SQLite does not wait where two turn one file to WAL."""
    with path.with_name(f"{path.name}.lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def _faults(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:
        if "disk is full" in str(error):
            raise DiskFullError(f"no space left on the disk of {path}") from error
        raise InfrastructureError(f"the rewards in {path} failed: {error}", code="reward-store") from error
    except sqlite3.DatabaseError as error:
        raise UserError(f"{path} does not hold rewards or is damaged: {error}", fix="name another file") from error
