"""One row for each value of a column."""

from __future__ import annotations

from collections.abc import Mapping

from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.synthesis.procedural.operation import Knob, Knobs, Operation, Params, Paths
from envs_forge.synthesis.procedural.values.table import Row, Table, compared

SOLUTION = """\
mkdir -p "$(dirname {target})"
python3 - {source} {target} <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    header, *rows = csv.reader(file)
at, date = header.index({column!r}), header.index({date!r})
chosen = {{}}
for number, row in enumerate(rows):
    value = {value}
    if {better}:
        chosen[value] = number
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    out = csv.writer(file, lineterminator="\\n")
    out.writerow(header)
    out.writerows(rows[number] for number in sorted(chosen.values()))
EOF
"""


class DedupeRows(Operation):
    """table → table."""

    id = "dedupe_rows"
    title = "distinct rows"
    takes = Table
    gives = Table
    skills = ("domain/tables", "artifact/csv", "operation/dedupe")
    stems = ("distinct", "deduplicated", "unique")
    slips = ("last", "whole_row")
    said = (
        "Remove duplicates from {source}: of the rows that share their `{column}`, keep only the first one, and write "
        "the header line and what stays, in the original order, to {target}.",
        "Write a copy of {source} to {target} that has each `{column}` once, namely in the first row that has it; "
        "header line and order stay as they are.",
        "{target} must contain the header line of {source} and, for every distinct `{column}`, the first row with it; "
        "the rows stay in the order of the file.",
    )
    knobs = (
        Knob(
            "newest",
            "constraint/recency",
            (
                "What decides is not the position but `{date}`: the row with the most recent one stays.",
                "Contrary to the rule above, prefer the latest `{date}` over the position.",
                "If their `{date}` differs, the newest of them survives, wherever it stands.",
            ),
            slips=("oldest",),
            ambient=False,
        ),
        Knob(
            "ignore_case",
            "constraint/case-insensitive",
            (
                "Upper and lower case make no difference in this comparison.",
                "Values that differ in capitalisation only are the same; copy the rows as they are.",
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
            "blank_kept",
            "constraint/missing-values",
            (
                "Rows with an empty `{column}` are no duplicates of each other: all of them stay.",
                "Keep every row whose `{column}` is blank.",
                "A missing `{column}` never makes a row a duplicate.",
            ),
            features=("blank_label",),
        ),
    )

    def draw(self, dice: Dice, value: Table, knobs: Knobs) -> Params | None:
        """A label column with repeated values, and the date that may decide."""
        labels, dates = value.of_kind("label"), value.of_kind("date")
        if not labels or not dates:
            return None
        column = dice.pick(labels)
        groups: dict[str, list[str]] = {}
        for cell, date in zip(value.cells(column), value.cells(dates[0]), strict=True):
            groups.setdefault(compared(cell, knobs), []).append(date)
        if any(len(set(group)) < len(group) for group in groups.values()):
            return None
        return {"column": column, "date": dates[0]}

    def apply(self, value: Table, params: Params, knobs: Knobs, slip: str = "") -> Table:
        """The rows that stay."""
        at, dates = value.columns.index(params["column"]), value.cells(params["date"])
        groups: dict[object, list[int]] = {}
        for number, row in enumerate(value.rows):
            alone = "blank_kept" in knobs and not row[at].strip()
            same: object = row if slip == "whole_row" else compared(row[at], knobs)
            groups.setdefault(number if alone else same, []).append(number)
        kept = [_choose(group, dates, knobs, slip) for group in groups.values()]
        rows: list[Row] = [value.rows[number] for number in sorted(kept)]
        if slip == "ignore_case:folded":
            rows = [(*row[:at], row[at].lower(), *row[at + 1 :]) for row in rows]
        if slip == "padding:stripped":
            rows = [tuple(cell.strip() for cell in row) for row in rows]
        return value.with_rows(rows)

    def slots(self, params: Params) -> Mapping[str, str]:
        """The two columns."""
        return {"column": params["column"], "date": params["date"]}

    def solve(self, params: Params, knobs: Knobs, paths: Paths) -> str:
        """A dictionary from value to the chosen row's number."""
        value = "row[at]" + (".strip()" if "padding" in knobs else "")
        value += ".casefold()" if "ignore_case" in knobs else ""
        if "blank_kept" in knobs:
            value = f"{value} or number"
        better = "value not in chosen"
        if "newest" in knobs:
            better += " or row[date] > rows[chosen[value]][date]"
        filled = {**self.slots(params), "value": value, "better": better}
        return SOLUTION.format(source=paths.source, target=paths.target, **filled)


def _choose(group: list[int], dates: list[str], knobs: Knobs, slip: str) -> int:
    """Which of some row numbers stays."""
    if slip == "last":
        return group[-1]
    if slip == "newest:oldest":
        return min(group, key=lambda number: dates[number])
    return max(group, key=lambda number: dates[number]) if "newest" in knobs else group[0]


OPERATION = DedupeRows()
