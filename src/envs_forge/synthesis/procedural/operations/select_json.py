"""Select records of a JSON list by a key within an object of theirs, as a table."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.synthesis.procedural.exported import HEADLESS, NULLS, exported, has_null, null_words
from envs_forge.synthesis.procedural.operation import Knob, Knobs, Operation, Params, Paths
from envs_forge.synthesis.procedural.values.nested import Nested
from envs_forge.synthesis.procedural.values.table import Table

SOLUTION = """\
mkdir -p "$(dirname {target})"
{header}jq -r --arg match {match} '
.[] | select({field} // "" | {test}) | [{fields}] | map(. // "{null}") | @csv
' {source} >> {target}
"""
HEADER = {
    "below": " and below a header line that calls each column by the last part of its path",
    "has": ", and the header line has the last part of each of these paths",
    "each": ", each named in the header line by the last part of its path",
}
"""What the base clauses say of the header line, unless there is to be none."""


class SelectJson(Operation):
    """nested → table."""

    id = "select_json"
    title = "selected records"
    takes = Nested
    gives = Table
    skills = ("domain/json", "artifact/json", "artifact/csv", "operation/json-select")
    stems = ("chosen", "picked", "extract")
    features = ("compound",)
    slips = ("inverted", "substring")
    said = (
        "From the JSON list {source}, take the records whose `{field}` is `{match}` and write them to {target} as a "
        "CSV file with the columns `{fields}`, in the order of the list{below}{null}.",
        "Write {target}, a CSV table of those records in the JSON list {source} whose `{field}` equals `{match}`, in "
        "their given order: the columns are `{fields}`{has}{null}.",
        "{target} must be a CSV file with one row for every record of the JSON list {source} that has `{match}` at "
        "`{field}`, in the given order; its columns are `{fields}`{each}{null}.",
    )
    knobs = (
        Knob(
            "ignore_case",
            "constraint/case-insensitive",
            (
                "Upper and lower case make no difference in this comparison.",
                "Compare without regard to capitalisation.",
                "The comparison is case-insensitive.",
            ),
            features=("case",),
        ),
        Knob(
            "blank_matches",
            "constraint/missing-values",
            (
                "A record that lacks `{field}` counts as matching too.",
                "Also take records that have no `{field}` at all.",
                "Records without any `{field}` belong to the result as well.",
            ),
            features=("blank_label",),
        ),
        NULLS,
        HEADLESS,
    )

    def draw(self, dice: Dice, value: Nested, knobs: Knobs) -> Params | None:
        """A label to select by, in one of the spellings that occur; the other columns but the name are written."""
        table = value.table
        label, other = dice.shuffled(table.of_kind("label"))
        missing = "" in table.cells(label)
        if missing != ("blank_matches" in knobs) or "" in table.cells(other):
            return None
        spellings = sorted({*table.cells(label)} - {""})
        columns = [*table.of_kind("key"), other, *table.of_kind("number", "date")]
        params = {"label": label, "match": dice.pick(spellings), "columns": columns, "field": value.path_of(label)}
        chosen = self._chosen(value, params, knobs)
        if len(chosen.rows) < 2 or has_null(chosen) < ("nulls" in knobs):
            return None
        fields = ", ".join(value.path_of(name) for name in columns)
        header = {name: "" if "headless" in knobs else words for name, words in HEADER.items()}
        return {**params, "fields": fields, **header, "null": null_words(chosen, knobs)}

    def apply(self, value: Nested, params: Params, knobs: Knobs, slip: str = "") -> Table:
        """The rows that match."""
        return exported(self._chosen(value, params, knobs, slip), knobs, slip)

    def _chosen(self, value: Nested, params: Params, knobs: Knobs, slip: str = "") -> Table:
        table, wanted = value.table, _plain(params["match"], knobs)
        cells = [_plain(cell, knobs) for cell in table.cells(params["label"])]
        hits = [wanted in cell if slip == "substring" else cell == wanted for cell in cells]
        hits = [hit or (not cell and "blank_matches" in knobs) for hit, cell in zip(hits, cells, strict=True)]
        places = [table.columns.index(name) for name in params["columns"]]
        rows = [row for row, hit in zip(table.rows, hits, strict=True) if hit != (slip == "inverted")]
        return Table(
            tuple(params["columns"]),
            tuple(table.kinds[at] for at in places),
            tuple(tuple(row[at] for at in places) for row in rows),
        )

    def slots(self, params: Params) -> Mapping[str, str]:
        """Paths, value, and what there is to say of header line and null."""
        return {name: params[name] for name in ("field", "match", "fields", *HEADER, "null")}

    def solve(self, params: Params, knobs: Knobs, paths: Paths) -> str:
        """A filter of jq."""
        test = "ascii_downcase == ($match | ascii_downcase)" if "ignore_case" in knobs else ". == $match"
        header = ":" if "headless" in knobs else f"echo {','.join(params['columns'])}"
        return SOLUTION.format(
            source=paths.source,
            target=paths.target,
            header=f"{header} > {paths.target}\n",
            match=shlex.quote(params["match"]),
            field=params["field"],
            fields=params["fields"],
            test=f'. == "" or {test}' if "blank_matches" in knobs else test,
            null="n/a" if "nulls" in knobs else "",
        )


def _plain(cell: str, knobs: Knobs) -> str:
    return cell.lower() if "ignore_case" in knobs else cell


OPERATION = SelectJson()
