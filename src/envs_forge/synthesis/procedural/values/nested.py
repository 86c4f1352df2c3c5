"""Records with objects in them, in JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from envs_forge.bundle.model import BundleFile
from envs_forge.synthesis.procedural.values.base import Value
from envs_forge.synthesis.procedural.values.document import Document
from envs_forge.synthesis.procedural.values.table import Table

GROUPS = {"label": "tags", "number": "counts"}
"""Kind of column → the object that holds such fields. The others lie in the record itself."""


@dataclass(frozen=True, slots=True)
class Nested(Value):
    """A table whose rows are JSON objects in a list. An empty number is null, an empty label is not there at all."""

    reader = "document"
    suffix = ".json"
    source = "nested"

    table: Table

    def objects(self) -> list[dict[str, Any]]:
        """The rows as they stand in the JSON text."""
        return [self._object(row) for row in self.table.rows]

    def _object(self, row: tuple[str, ...]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, kind, cell in zip(self.table.columns, self.table.kinds, row, strict=True):
            place = found.setdefault(GROUPS[kind], {}) if kind in GROUPS else found
            if kind == "number":
                place[name] = int(cell) if cell else None
            elif cell:
                place[name] = cell
        return found

    def path_of(self, column: str) -> str:
        """Where a column lies in a record: `.name` or `.object.name`."""
        kind = self.table.kinds[self.table.columns.index(column)]
        return f".{GROUPS[kind]}.{column}" if kind in GROUPS else f".{column}"

    def files(self, path: str) -> Mapping[str, BundleFile]:
        """One JSON file, a line for each record."""
        lines = ",\n".join("  " + json.dumps(record, ensure_ascii=False) for record in self.objects())
        return {path: BundleFile(data=f"[\n{lines}\n]\n".encode())}

    def canon(self) -> list[str]:
        """One `path = value` a leaf, in the order of the paths."""
        return Document(self.objects()).canon()
