"""Select rows from an SQLite database and write them as CSV."""

from __future__ import annotations

from collections.abc import Mapping

from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.synthesis.procedural.operation import Knob, Knobs, Operation, Params, Paths
from envs_forge.synthesis.procedural.values.database import Database
from envs_forge.synthesis.procedural.values.table import Row, Table

SOLUTION = """\
mkdir -p "$(dirname {target})"
python3 - {source} {target} <<'EOF'
import csv, sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
found = connection.execute('SELECT * FROM "{table}" WHERE {where} ORDER BY "{number}" DESC{then}', ({match!r},))
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    csv.writer(file, lineterminator="\\n").writerows([[column[0] for column in found.description], *found])
EOF
"""


class QueryDatabase(Operation):
    """database → table."""

    id = "query_database"
    title = "rows of the query"
    takes = Database
    gives = Table
    skills = ("domain/sqlite", "artifact/sqlite-database", "artifact/csv", "operation/sqlite-query")
    stems = ("selected", "queried", "result")
    slips = ("reversed", "all_rows")
    said = (
        "From the table `{table}` of the SQLite database {source}, write all rows whose `{label}` is `{match}` to "
        "{target} as CSV, every column under its name in a header line, the largest `{number}` first (NULL as an empty "
        "cell).",
        "{target} must be a CSV file with a header line and the complete rows of the table `{table}` in the database "
        "{source} in which `{label}` equals `{match}`, in descending order of `{number}`; NULL becomes an empty cell.",
        "Query the SQLite database {source}: all rows of its table `{table}` that have `{match}` in the column "
        "`{label}` go to {target}, a CSV file with the names of the columns as header line, sorted by `{number}` from "
        "large to small and with empty cells for NULL.",
    )
    knobs = (
        Knob(
            "tie_order",
            "constraint/tie-break",
            (
                "Rows with equal numbers are ordered by `{key}`, ascending.",
                "Among equal numbers, sort by `{key}` from A to Z.",
                "Where the numbers are the same, the smaller `{key}` comes first.",
            ),
            features=("ties",),
            slips=("descending",),
        ),
        Knob(
            "drop_nulls",
            "constraint/null-values",
            (
                "Leave out rows in which `{number}` is NULL.",
                "Rows without a `{number}` (it is NULL there) do not count.",
                "Where `{number}` is NULL, the row is not wanted.",
            ),
            features=("blank_number",),
            slips=("only",),
        ),
        Knob(
            "ignore_case",
            "constraint/case-insensitive",
            (
                "Compare `{label}` without regard to upper and lower case.",
                "The comparison of `{label}` is case-insensitive.",
                "Capitalisation does not matter in `{label}`.",
            ),
            features=("case",),
        ),
        Knob(
            "blank_matches",
            "constraint/missing-values",
            (
                "Rows in which `{label}` is NULL count as matching.",
                "Take the rows without a `{label}` (NULL) as well.",
                "A `{label}` that is NULL also qualifies.",
            ),
            features=("blank_label",),
            ambient=False,
        ),
    )

    def draw(self, dice: Dice, value: Database, knobs: Knobs) -> Params | None:
        """A value of a label, and a number column to sort by."""
        table = value.table
        if not (table.of_kind("label") and table.of_kind("key") and table.of_kind("number")):
            return None
        label = dice.pick(table.of_kind("label"))
        cells = [cell for cell in table.cells(label) if cell and cell == cell.strip()]
        if not cells:
            return None
        return {
            "table": value.name,
            "label": label,
            "match": dice.pick(cells),
            "key": table.of_kind("key")[0],
            "number": dice.pick(table.of_kind("number")),
        }

    def apply(self, value: Database, params: Params, knobs: Knobs, slip: str = "") -> Table:
        """The rows that match, sorted."""
        table = value.table
        at, key = table.columns.index(params["number"]), table.columns.index(params["key"])
        cells = table.cells(params["label"])
        hit = [slip == "all_rows" or self._matches(cell, params, knobs) for cell in cells]
        rows: list[Row] = [row for row, kept in zip(table.rows, hit, strict=True) if kept]
        if "drop_nulls" in knobs:
            rows = [row for row in rows if bool(row[at]) != (slip == "drop_nulls:only")]
        if "tie_order" in knobs:
            rows.sort(key=lambda row: row[key], reverse=slip == "tie_order:descending")
        rows.sort(key=lambda row: int(row[at] or -1), reverse=slip != "reversed")
        return table.with_rows(rows)

    def _matches(self, cell: str, params: Params, knobs: Knobs) -> bool:
        if not cell:
            return "blank_matches" in knobs
        match: str = params["match"]
        return cell.lower() == match.lower() if "ignore_case" in knobs else cell == match

    def slots(self, params: Params) -> Mapping[str, str]:
        """Table, columns, value."""
        return {name: str(text) for name, text in params.items()}

    def solve(self, params: Params, knobs: Knobs, paths: Paths) -> str:
        """One SELECT."""
        where = f'"{params["label"]}" = ?' + (" COLLATE NOCASE" if "ignore_case" in knobs else "")
        if "blank_matches" in knobs:
            where = f'({where} OR "{params["label"]}" IS NULL)'
        if "drop_nulls" in knobs:
            where += f' AND "{params["number"]}" IS NOT NULL'
        then = f', "{params["key"]}"' if "tie_order" in knobs else ""
        names = {name: params[name] for name in ("number", "table", "match")}
        return SOLUTION.format(source=paths.source, target=paths.target, where=where, then=then, **names)


OPERATION = QueryDatabase()
