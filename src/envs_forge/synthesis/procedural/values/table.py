"""A table in a delimited text file."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from envs_forge.bundle.model import BundleFile
from envs_forge.synthesis.procedural.values.base import Value

Row = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table(Value):
    """Rows of text cells.

    Attributes:
        columns: Names, unique.
        kinds: What each column holds: `key`, `label`, `name`, `number` or `date`.
        rows: As long as `columns` each.
        delimiter: One character.
        header: Whether the file begins with the names.
        newline: How lines end in the file.
        final_newline: Whether the last line ends like the others.
    """

    reader = "table"
    suffix = ".csv"
    source = "table"

    columns: tuple[str, ...]
    kinds: tuple[str, ...]
    rows: tuple[Row, ...]
    delimiter: str = ","
    header: bool = True
    newline: str = "\n"
    final_newline: bool = True

    def files(self, path: str) -> Mapping[str, BundleFile]:
        """One text file."""
        out = io.StringIO()
        writer = csv.writer(out, delimiter=self.delimiter, lineterminator=self.newline)
        writer.writerows([self.columns, *self.rows] if self.header else self.rows)
        text = out.getvalue()
        if not self.final_newline:
            text = text.removesuffix(self.newline)
        return {path: BundleFile(data=text.encode())}

    def canon(self) -> list[str]:
        """The cells of each line of the file, set off by bars."""
        rows = [self.columns, *self.rows] if self.header else self.rows
        return [" | ".join(row) for row in rows]

    def arguments(self) -> Mapping[str, Any]:
        """The delimiter, unless it is a comma."""
        return {} if self.delimiter == "," else {"delimiter": self.delimiter}

    def of_kind(self, *kinds: str) -> list[str]:
        """Names of the columns of these kinds, in order."""
        return [name for name, kind in zip(self.columns, self.kinds, strict=True) if kind in kinds]

    def cells(self, column: str) -> list[str]:
        """One column from top to bottom."""
        at = self.columns.index(column)
        return [row[at] for row in self.rows]

    def with_rows(self, rows: Sequence[Row]) -> Table:
        """The same columns over other rows, as a plain file: commas, header, LF."""
        return replace(self, rows=tuple(rows), delimiter=",", header=True, newline="\n", final_newline=True)


def compared(cell: str, knobs: frozenset[str]) -> str:
    """A cell as it counts in a comparison, with the knobs `padding` and `ignore_case`."""
    text = cell.strip() if "padding" in knobs else cell
    return text.lower() if "ignore_case" in knobs else text
