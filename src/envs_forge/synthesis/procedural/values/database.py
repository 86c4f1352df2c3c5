"""An SQLite database with one table."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from envs_forge.bundle.model import BundleFile
from envs_forge.synthesis.procedural.values.base import Value
from envs_forge.synthesis.procedural.values.table import Table


@dataclass(frozen=True, slots=True)
class Database(Value):
    """A table in an SQLite file, which is made from SQL when the image is built.

    Number columns are integers, all others are text; an empty cell is NULL.

    Attributes:
        name: Of the table.
        table: Its columns and rows.
    """

    reader = "database"
    suffix = ".db"
    source = "database"

    name: str
    table: Table

    def files(self, path: str) -> Mapping[str, BundleFile]:
        """The SQL that makes the database, in a file that `setup` removes."""
        kinds = zip(self.table.columns, self.table.kinds, strict=True)
        columns = ", ".join(f'"{name}" {"INTEGER" if kind == "number" else "TEXT"}' for name, kind in kinds)
        lines = ["BEGIN;", f'CREATE TABLE "{self.name}" ({columns});']
        lines += [f'INSERT INTO "{self.name}" VALUES ({", ".join(row)});' for row in self.rows()]
        return {f"{path}.sql": BundleFile(data="".join(f"{line}\n" for line in [*lines, "COMMIT;"]).encode())}

    def setup(self, path: str) -> list[str]:
        """Run the SQL."""
        script, database = shlex.quote(f"{path}.sql"), shlex.quote(path)
        return [f"sqlite3 {database} < {script}", f"rm {script}"]

    def canon(self) -> list[str]:
        """Name and columns, then the cells of each row as they stand in SQL."""
        return [f"{self.name}: {' | '.join(self.table.columns)}", *(" | ".join(row) for row in self.rows())]

    def rows(self) -> list[list[str]]:
        """The cells as SQL literals."""
        kinds = self.table.kinds
        return [[literal(cell, kind) for cell, kind in zip(row, kinds, strict=True)] for row in self.table.rows]


def literal(cell: str, kind: str) -> str:
    """A cell in SQL."""
    if not cell:
        return "NULL"
    return cell if kind == "number" else "'" + cell.replace("'", "''") + "'"
