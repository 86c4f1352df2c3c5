"""`Ledger`: appends records in transactions and reads them back."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self, TypeVar

from envs_forge.errors import DiskFullError, InfrastructureError, InvariantError, UserError
from envs_forge.ledger.migrate import check_known, migrate, migrations, version
from envs_forge.ledger.records import Record
from envs_forge.redaction import redact

R = TypeVar("R", bound=Record)
_BUSY_S = 30.0


class AlreadyRecordedError(InvariantError):
    """A record's key is taken: the same thing would be counted twice."""


class Ledger:
    """One run's records. Any number of threads may use one object; use `open` to make it.

    Args:
        connection: An open connection in autocommit mode.
        path: The file, for messages.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path
        self._lock = threading.RLock()

    @classmethod
    def open(cls, path: Path, *, read_only: bool = False) -> Self:
        """Open a ledger, making it unless `read_only`. One of an earlier version is brought up to date either way.

        Raises:
            UserError: The file is no ledger, is missing (`read_only`) or comes from a newer version.
        """
        if read_only and not path.is_file():
            raise UserError(f"no ledger at {path}", fix="name a run directory")
        if read_only and _is_outdated(path):
            cls.open(path).close()
        with _faults(path):
            uri = f"{path.absolute().as_uri()}?mode={'ro' if read_only else 'rwc'}"
            connection = sqlite3.connect(uri, uri=True, timeout=_BUSY_S, isolation_level=None, check_same_thread=False)
            connection.row_factory = sqlite3.Row
            try:
                _prepare(connection, read_only)
            except BaseException:
                connection.close()
                raise
        return cls(connection, path)

    def append(self, *records: Record) -> None:
        """Write records in one transaction: all of them or none.

        Raises:
            AlreadyRecordedError: A key is taken.
            DiskFullError: The disk is full; nothing was written.
        """
        with self._lock, _faults(self._path), self._transaction():
            for record in records:
                self._insert(record)

    def read(self, kind: type[R], /, **where: Any) -> list[R]:
        """All records of a kind whose columns equal `where`, in the order they were written."""
        unknown = where.keys() - kind.model_fields.keys()
        if unknown:
            raise ValueError(f"{kind.TABLE} has no column {', '.join(sorted(unknown))}")
        condition = " AND ".join(f"{name} IS ?" for name in where) or "1"
        rows = self.query(f"SELECT * FROM {kind.TABLE} WHERE {condition} ORDER BY rowid", *where.values())
        return [kind.model_validate({**row, "payload": json.loads(row["payload"])}) for row in rows]

    def query(self, sql: str, *values: Any) -> list[dict[str, Any]]:
        """Rows of a SELECT as dictionaries."""
        with self._lock, _faults(self._path):
            return [dict(row) for row in self._connection.execute(sql, values)]

    @contextlib.contextmanager
    def frozen(self) -> Iterator[None]:
        """A block whose reads all see the same moment, whatever another process writes meanwhile."""
        with self._lock, _faults(self._path):
            self._connection.execute("BEGIN")
            try:
                yield
            finally:
                self._connection.execute("COMMIT")

    def close(self) -> None:
        """Close the file. Idempotent."""
        with self._lock:
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    def _insert(self, record: Record) -> None:
        values = record.model_dump(mode="json")
        values["payload"] = json.dumps(values["payload"], ensure_ascii=False, allow_nan=False)
        values = {name: redact(value) if isinstance(value, str) else value for name, value in values.items()}
        columns = ", ".join(values)
        marks = ", ".join("?" * len(values))
        try:
            self._connection.execute(f"INSERT INTO {record.TABLE} ({columns}) VALUES ({marks})", tuple(values.values()))
        except sqlite3.IntegrityError as error:
            if "UNIQUE" in str(error):
                raise AlreadyRecordedError(f"{record.TABLE} already holds {record.key}: {error}") from error
            raise InvariantError(f"{record.TABLE} refuses {record.key}: {error}") from error


def _is_outdated(path: Path) -> bool:
    """Whether an earlier version of the program wrote the file; one that is empty is none of that."""
    with _faults(path), contextlib.closing(sqlite3.connect(path, timeout=_BUSY_S)) as connection:
        return 0 < version(connection) < len(migrations())


def _prepare(connection: sqlite3.Connection, read_only: bool) -> None:
    connection.execute("PRAGMA foreign_keys = ON")
    if read_only:
        check_known(connection)
        if version(connection) == 0:
            raise UserError("the run has not started: its ledger is empty")
        return
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    migrate(connection)


@contextlib.contextmanager
def _faults(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:
        if "disk is full" in str(error):
            raise DiskFullError(f"no space left on the disk of {path}") from error
        raise InfrastructureError(f"the ledger {path} failed: {error}", code="ledger") from error
    except sqlite3.DatabaseError as error:
        raise UserError(f"{path} is not a ledger or is damaged: {error}") from error
