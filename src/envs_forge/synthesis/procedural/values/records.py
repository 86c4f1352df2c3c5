"""Records of equal fields: a table as programs hand it over, in JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from envs_forge.bundle.model import BundleFile
from envs_forge.synthesis.procedural.values.base import Value
from envs_forge.synthesis.procedural.values.table import Table


@dataclass(frozen=True, slots=True)
class Records(Value):
    """A table whose rows are written as JSON objects in a list. Numbers are numbers, an empty number is null."""

    reader = "document"
    suffix = ".json"
    source = "records"

    table: Table

    def objects(self) -> list[dict[str, Any]]:
        """The rows as they stand in the JSON text."""
        kinds = self.table.kinds
        cells = ([_plain(cell, kind) for cell, kind in zip(row, kinds, strict=True)] for row in self.table.rows)
        return [dict(zip(self.table.columns, row, strict=True)) for row in cells]

    def files(self, path: str) -> Mapping[str, BundleFile]:
        """One JSON file, a line for each record."""
        lines = ",\n".join("  " + json.dumps(record, ensure_ascii=False) for record in self.objects())
        return {path: BundleFile(data=f"[\n{lines}\n]\n".encode())}

    def canon(self) -> list[str]:
        """One `path = value` a leaf, in the order of the paths."""
        return sorted(
            f"/{number}/{name} = {json.dumps(value, ensure_ascii=False)}"
            for number, record in enumerate(self.objects())
            for name, value in record.items()
        )


def _plain(cell: str, kind: str) -> str | int | None:
    if kind != "number":
        return cell
    return int(cell) if cell else None
