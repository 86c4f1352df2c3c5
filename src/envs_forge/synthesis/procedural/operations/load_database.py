"""Load a table into an SQLite database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.synthesis.procedural.operation import Knob, Knobs, Operation, Params, Paths
from envs_forge.synthesis.procedural.values.database import Database
from envs_forge.synthesis.procedural.values.table import Table

SOLUTION = """\
mkdir -p "$(dirname {target})"
rm -f {target}
python3 - {source} {target} <<'EOF'
import csv, sqlite3, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    names, *rows = csv.reader(file)
kinds = ", ".join(f'"{{name}}" ' + ("INTEGER" if name in {numbers!r} else "TEXT") for name in names)
marks = ", ".join("?" for name in names)
connection = sqlite3.connect(sys.argv[2])
connection.execute(f'CREATE TABLE "{table}" ({{kinds}})')
for row in rows:
    {skip}connection.execute(f'INSERT INTO "{table}" VALUES ({{marks}})', [{cell} for cell in row])
connection.commit()
EOF
"""
NAMES = ("entries", "items", "history", "imported")


class LoadDatabase(Operation):
    """table → database."""

    id = "load_database"
    title = "loaded database"
    takes = Table
    gives = Database
    skills = ("domain/sqlite", "artifact/csv", "artifact/sqlite-database", "operation/sqlite-load")
    stems = ("loaded", "store", "collected")
    slips = ("all_text", "header_row")
    said = (
        "Load {source} into {target}, a new SQLite database with one table `{table}`: the columns have the names and "
        "the order of the header line, {numbers} hold integers and all others text, and the rows are inserted in the "
        "order of the file{null}.",
        "Make {target} a new SQLite database whose only table `{table}` has the rows of {source} in their order, "
        "with the columns of the header line under the same names, as integers in {numbers} and as text in all "
        "others{null}.",
        "Create {target}, an SQLite database, from the CSV file {source}: one table named `{table}`, a column for each "
        "name in the header line, of type INTEGER for {numbers} and of type TEXT for the rest, and the rows in the "
        "given order{null}.",
    )
    knobs = (
        Knob(
            "only_label",
            "constraint/row-selection",
            (
                "Load only the rows whose `{label}` is `{match}`.",
                "Rows with another `{label}` than `{match}` do not belong in the database.",
                "Skip every row in which `{label}` is not `{match}`.",
            ),
            slips=("without",),
            ambient=False,
        ),
        Knob(
            "unknown",
            "constraint/missing-values",
            (
                "Store `{missing}` for an empty `{label}`.",
                "Where `{label}` is empty, the text `{missing}` takes its place.",
                "An empty `{label}` becomes `{missing}`.",
            ),
            features=("blank_label",),
            ambient=False,
            excludes=("only_label",),
        ),
    )

    def draw(self, dice: Dice, value: Table, knobs: Knobs) -> Params | None:
        """A name for the table, a label and one of its values."""
        labels, numbers = value.of_kind("label"), value.of_kind("number")
        if not labels or not numbers or not value.rows:
            return None
        label = dice.pick(labels)
        match = dice.pick(value.cells(label))
        if not match or match != match.strip():
            return None
        return {
            "table": dice.pick(NAMES),
            "label": label,
            "match": match,
            "missing": dice.pick(("unknown", "none")),
            "number_names": numbers,
            "blank": any("" in row for row in value.rows),
        }

    def apply(self, value: Table, params: Params, knobs: Knobs, slip: str = "") -> Database:
        """The rows that count."""
        at = value.columns.index(params["label"])
        rows = list(value.rows)
        if "only_label" in knobs:
            rows = [row for row in rows if (row[at] == params["match"]) != (slip == "only_label:without")]
        if "unknown" in knobs:
            rows = [(*row[:at], row[at] or params["missing"], *row[at + 1 :]) for row in rows]
        table = value.with_rows([value.columns, *rows] if slip == "header_row" else rows)
        if slip in ("all_text", "header_row"):
            table = replace(table, kinds=tuple("label" for _ in table.kinds))
        return Database(params["table"], table)

    def slots(self, params: Params) -> Mapping[str, str]:
        """Names, and what becomes of empty cells where there are any."""
        numbers = " and ".join(f"`{name}`" for name in params["number_names"])
        null = ", with NULL for empty cells" if params["blank"] else ""
        return {
            **{name: str(params[name]) for name in ("table", "label", "match", "missing")},
            "numbers": numbers,
            "null": null,
        }

    def solve(self, params: Params, knobs: Knobs, paths: Paths) -> str:
        """Python's csv and sqlite3."""
        label = f"row[names.index({params['label']!r})]"
        skip = ""
        if "only_label" in knobs:
            skip = f"if {label} != {params['match']!r}:\n        continue\n    "
        if "unknown" in knobs:
            skip += f"{label} = {label} or {params['missing']!r}\n    "
        return SOLUTION.format(
            source=paths.source,
            target=paths.target,
            numbers=list(params["number_names"]),
            table=params["table"],
            skip=skip,
            cell="cell or None",
        )


OPERATION = LoadDatabase()
