"""Keep the rows of a table whose label has one value."""

from __future__ import annotations

from collections.abc import Mapping

from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.synthesis.procedural.operation import Knob, Knobs, Operation, Params, Paths
from envs_forge.synthesis.procedural.values.table import Table, compared

SOLUTION = """\
mkdir -p "$(dirname {target})"
python3 - {source} {target} <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
    columns = list(rows[0])
wanted = {value!r}
kept = [row for row in rows if {test}]
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    out = csv.DictWriter(file, columns, lineterminator="\\n")
    out.writeheader()
    out.writerows(kept)
EOF
"""


class FilterRows(Operation):
    """table → table."""

    id = "filter_rows"
    title = "rows kept"
    takes = Table
    gives = Table
    skills = ("domain/tables", "artifact/csv", "operation/filter-rows")
    stems = ("selected", "matching", "kept")
    features = ("compound",)
    slips = ("inverted", "substring")
    said = (
        "Keep only the rows of {source} whose `{column}` is `{value}` and write them to {target}, with the same "
        "header line and in the same order.",
        "From {source}, select the records in which the column `{column}` equals `{value}`; save the header line "
        "and these records, in their original order, as {target}.",
        "{target} must hold the header line of {source}, followed by every row that has `{value}` in column "
        "`{column}`, order unchanged.",
    )
    knobs = (
        Knob(
            "ignore_case",
            "constraint/case-insensitive",
            (
                "Upper and lower case make no difference in this comparison.",
                "Compare without regard to capitalisation, but copy the rows as they are.",
                "The comparison is case-insensitive.",
            ),
            features=("case",),
            slips=("folded",),
        ),
        Knob(
            "padding",
            "constraint/padding",
            (
                "Spaces before or after the value do not count when comparing.",
                "Strip surrounding blanks from a cell before you compare it; the rows themselves stay untouched.",
                "Cells may be padded with spaces, which the comparison has to ignore.",
            ),
            features=("padding",),
            slips=("stripped",),
        ),
        Knob(
            "blank_matches",
            "constraint/missing-values",
            (
                "A row with an empty `{column}` counts as matching too.",
                "Also keep rows where `{column}` is blank.",
                "Rows without any `{column}` belong to the result as well.",
            ),
            features=("blank_label",),
        ),
    )

    def draw(self, dice: Dice, value: Table, knobs: Knobs) -> Params | None:
        """A label column and the value to keep, in one of the spellings that occur."""
        labels = value.of_kind("label")
        if not labels:
            return None
        column = dice.pick(labels)
        spellings = sorted({cell.strip() for cell in value.cells(column)} - {""})
        return {"column": column, "value": dice.pick(spellings)} if len(spellings) > 1 else None

    def apply(self, value: Table, params: Params, knobs: Knobs, slip: str = "") -> Table:
        """The rows that match."""
        at, wanted = value.columns.index(params["column"]), compared(params["value"], knobs)
        cells = [compared(row[at], knobs) for row in value.rows]
        blank = "blank_matches" in knobs
        hits = [wanted in cell if slip == "substring" else cell == wanted for cell in cells]
        hits = [hit or (blank and not cell) for hit, cell in zip(hits, cells, strict=True)]
        rows = [row for row, hit in zip(value.rows, hits, strict=True) if hit != (slip == "inverted")]
        if slip == "ignore_case:folded":
            rows = [(*row[:at], row[at].lower(), *row[at + 1 :]) for row in rows]
        if slip == "padding:stripped":
            rows = [tuple(cell.strip() for cell in row) for row in rows]
        return value.with_rows(rows)

    def slots(self, params: Params) -> Mapping[str, str]:
        """Column and value."""
        return {"column": params["column"], "value": params["value"]}

    def solve(self, params: Params, knobs: Knobs, paths: Paths) -> str:
        """A comprehension over csv rows."""
        cell = f"row[{params['column']!r}]" + (".strip()" if "padding" in knobs else "")
        wanted = "wanted"
        if "ignore_case" in knobs:
            cell, wanted = f"{cell}.casefold()", "wanted.casefold()"
        test = f"{cell} in ({wanted}, '')" if "blank_matches" in knobs else f"{cell} == {wanted}"
        return SOLUTION.format(source=paths.source, target=paths.target, value=params["value"], test=test)


OPERATION = FilterRows()
