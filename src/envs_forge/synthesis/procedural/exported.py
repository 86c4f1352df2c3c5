"""What `query_service` and `records_to_csv` have in common: records in JSON become a CSV file."""

from __future__ import annotations

from dataclasses import replace

from envs_forge.synthesis.procedural.operation import Knob, Knobs, Place
from envs_forge.synthesis.procedural.values.table import Table

SLIPS = ("sorted_columns", "sorted_rows")
NULLS = Knob(
    "nulls",
    "constraint/null-values",
    (
        "Write `n/a` where a value is null.",
        "A null is to appear as `n/a`, not as an empty cell.",
        "Put `n/a` into the cells of fields that are null.",
    ),
    features=("blank_number",),
    slips=("zero",),
    ambient=False,
    place=Place.LAST,
)
HEADLESS = Knob(
    "headless",
    "constraint/header",
    (
        "Leave out the header line: only the records are wanted.",
        "The file gets no header line.",
        "There must be no line of field names in it, only records.",
    ),
    ambient=False,
    place=Place.LAST,
)
HEADER_WORDS = {
    "then": "the names of the fields as header line, then ",
    "with": "with a header line of the field names and ",
    "whose": "whose header line names the fields and ",
    "names": "the header line names the fields, and ",
}
"""What the base clauses say of the header line, unless there is to be none."""
WRITE = """\
columns = list(records[0])
rows = [[{null!r} if record[name] is None else record[name] for name in columns] for record in records]
with open(sys.argv[-1], "w", newline="", encoding="utf-8") as file:
    csv.writer(file, lineterminator="\\n").writerows({lines})
"""


def exported(table: Table, knobs: Knobs, slip: str = "") -> Table:
    """The CSV file that records become."""
    null = {"nulls:zero": "0"}.get(slip, "n/a" if "nulls" in knobs else "")
    numbers = [kind == "number" for kind in table.kinds]
    rows = [[null if n and not cell else cell for cell, n in zip(row, numbers, strict=True)] for row in table.rows]
    order = [*range(len(table.columns))]
    if slip == "sorted_columns":
        order.sort(key=lambda at: table.columns[at])
    if slip == "sorted_rows":
        rows.sort(key=lambda row: row[0])
    return replace(
        table,
        columns=tuple(table.columns[at] for at in order),
        kinds=tuple(table.kinds[at] for at in order),
        rows=tuple(tuple(row[at] for at in order) for row in rows),
        header="headless" not in knobs,
    )


def has_null(table: Table) -> bool:
    """Whether a number is missing."""
    return any("" in table.cells(column) for column in table.of_kind("number"))


def null_words(table: Table, knobs: Knobs) -> str:
    """What the base clause says of null, so that nothing is left open: empty where there is none or a knob says it."""
    return " (null as an empty cell)" if has_null(table) and "nulls" not in knobs else ""


def base_words(table: Table, knobs: Knobs) -> dict[str, str]:
    """Slots of the base clauses: the header line unless a knob forbids it, and what becomes of null."""
    header = {name: "" if "headless" in knobs else words for name, words in HEADER_WORDS.items()}
    return {**header, "null": null_words(table, knobs)}


def writing(knobs: Knobs) -> str:
    """Python code that writes `records` to the last argument."""
    null = "n/a" if "nulls" in knobs else ""
    return WRITE.format(null=null, lines="rows" if "headless" in knobs else "[columns, *rows]")
