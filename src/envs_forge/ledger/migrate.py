"""Numbered migrations: `migrations/0001_….sql` and so on, each applied once and whole, in order."""

from __future__ import annotations

import sqlite3
from importlib import resources

from envs_forge.errors import InvariantError, UserError


def migrations() -> list[tuple[int, str]]:
    """All migrations as (number, SQL), in order, numbered from 1 without a gap."""
    folder = resources.files("envs_forge.ledger") / "migrations"
    found = sorted(
        (int(f.name.split("_")[0]), f.read_text("utf-8")) for f in folder.iterdir() if f.name.endswith(".sql")
    )
    if [number for number, _ in found] != list(range(1, len(found) + 1)):
        raise InvariantError("the ledger's migrations are not numbered 1, 2, 3 …")
    return found


def version(connection: sqlite3.Connection) -> int:
    """Number of the last migration that this file has."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def migrate(connection: sqlite3.Connection) -> None:
    """Bring a ledger up to date, one transaction a migration.

    Raises:
        UserError: A newer version of the program wrote the file.
    """
    known = migrations()
    check_known(connection, len(known))
    for number, sql in known[version(connection) :]:
        connection.executescript(f"BEGIN IMMEDIATE;\n{sql}\nPRAGMA user_version = {number};\nCOMMIT;")


def check_known(connection: sqlite3.Connection, newest: int | None = None) -> None:
    """Refuse a file that is newer than this program."""
    newest = len(migrations()) if newest is None else newest
    if version(connection) > newest:
        raise UserError(
            f"the ledger has schema {version(connection)}, this program knows up to {newest}",
            fix="use the version of envs-forge that made the run",
        )
