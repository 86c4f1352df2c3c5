"""The rows with the largest or smallest numbers, sorted."""

from __future__ import annotations

from collections.abc import Mapping

from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.synthesis.procedural.operation import Knob, Knobs, Operation, Params, Paths
from envs_forge.synthesis.procedural.values.table import Row, Table

SOLUTION = """\
mkdir -p "$(dirname {target})"
python3 - {source} {target} <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    header, *rows = csv.reader(file)
at = header.index({column!r})
rows.sort(key=lambda row: {key})
{cut}
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    csv.writer(file, lineterminator="\\n").writerows([header, *rows])
EOF
"""


class TopK(Operation):
    """table → table."""

    id = "top_k"
    title = "top rows"
    takes = Table
    gives = Table
    skills = ("domain/tables", "artifact/csv", "operation/top-k")
    stems = ("top", "leading", "ranking")
    slips = ("lexical", "reversed")
    said = (
        "Sort the rows of {source} by the number in `{column}`, {order} first, and write the header line and the "
        "first {count} rows to {target}.",
        "Take the {count} rows of {source} with the {extreme} `{column}` (numerically) and put them into {target}, "
        "{order} first, below the header line.",
        "{target} should list the {count} records of {source} that have the {extreme} numbers in column `{column}`, "
        "{order} first, with the header line on top.",
    )
    knobs = (
        Knob(
            "ties",
            "constraint/ties",
            (
                "If further rows tie with the last one, include all of them; tied rows stay in the order of the file.",
                "Rows that share the number of the last place belong to the list too, and equal rows keep their order.",
                "Ties at the cut must not be broken: keep every tied row, in the order in which they were given.",
            ),
            features=("ties",),
            excludes=("tie_order",),
        ),
        Knob(
            "tie_order",
            "constraint/tie-break",
            (
                "Rows with equal numbers are ordered by `{key}`, ascending.",
                "Among equal numbers, sort by the column `{key}` from A to Z.",
                "Where the numbers are the same, the smaller `{key}` comes first.",
            ),
            features=("ties",),
            slips=("descending",),
        ),
        Knob(
            "blank_zero",
            "constraint/missing-values",
            (
                "An empty `{column}` counts as 0.",
                "Read a blank `{column}` as zero.",
                "Where `{column}` is missing, take it to be 0.",
            ),
            features=("blank_number",),
        ),
    )

    def draw(self, dice: Dice, value: Table, knobs: Knobs) -> Params | None:
        """A number column, a direction and a count that make the knobs matter."""
        columns = [c for c in value.of_kind("number") if ("" in value.cells(c)) == ("blank_zero" in knobs)]
        if not columns or not value.of_kind("key") or len(value.rows) < 3:
            return None
        column = dice.pick(columns)
        count = dice.between(2, min(6, len(value.rows) - 1))
        smallest = "blank_zero" in knobs or dice.chance(0.4)
        return {"column": column, "count": count, "smallest": smallest, "key": value.of_kind("key")[0]}

    def apply(self, value: Table, params: Params, knobs: Knobs, slip: str = "") -> Table:
        """Sorted and cut."""
        at, key = value.columns.index(params["column"]), value.columns.index(params["key"])
        smallest = params["smallest"] != (slip == "reversed")
        rows = [row for row in value.rows if row[at] or "blank_zero" in knobs]
        if "tie_order" in knobs:
            rows.sort(key=lambda row: row[key], reverse=slip == "tie_order:descending")

        def rank(row: Row) -> tuple[float, str]:
            return (0.0, row[at]) if slip == "lexical" else (float(row[at] or 0), "")

        rows.sort(key=rank, reverse=not smallest)
        count = params["count"]
        if "ties" in knobs:
            while count < len(rows) and rank(rows[count]) == rank(rows[count - 1]):
                count += 1
        return value.with_rows(rows[:count])

    def slots(self, params: Params) -> Mapping[str, str]:
        """Column, count and direction in words."""
        small = params["smallest"]
        return {
            "column": params["column"],
            "key": params["key"],
            "count": str(params["count"]),
            "order": "smallest" if small else "largest",
            "extreme": "smallest" if small else "largest",
        }

    def solve(self, params: Params, knobs: Knobs, paths: Paths) -> str:
        """A stable sort and a cut."""
        number = "float(row[at] or 0)" if "blank_zero" in knobs else "float(row[at])"
        key = number if params["smallest"] else f"-{number}"
        if "tie_order" in knobs:
            key = f"({key}, row[header.index({params['key']!r})])"
        cut = f"rows = rows[:{params['count']}]"
        if "ties" in knobs:
            last, order = f"rows[{params['count'] - 1}]", "<=" if params["smallest"] else ">="
            cut = f"last = {number.replace('row', last)}\nrows = [row for row in rows if {number} {order} last]"
        return SOLUTION.format(source=paths.source, target=paths.target, column=params["column"], key=key, cut=cut)


OPERATION = TopK()
