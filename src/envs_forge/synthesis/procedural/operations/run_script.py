"""Run a shell script on a file and keep what it prints."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace

from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.synthesis.procedural.operation import Knob, Knobs, Operation, Params, Paths, Place
from envs_forge.synthesis.procedural.values.base import Value
from envs_forge.synthesis.procedural.values.script import Script
from envs_forge.synthesis.procedural.values.table import Table

SOLUTION = """\
mkdir -p "$(dirname {target})"
bash {source} {limit} {side}{filters} > {target}
"""


class RunScript(Operation):
    """script → table, with a table beside it."""

    id = "run_script"
    title = "output of the script"
    takes = Script
    gives = Table
    skills = ("domain/shell", "artifact/shell-script", "artifact/csv", "operation/run-script")
    stems = ("output", "kept", "printed")
    slips = ("whole_file", "inverted")
    said = (
        "Run the script {source} with two arguments, the limit `{limit}` and the CSV file {side}, and write what it "
        "prints to {target}.",
        "{target} must hold the output of the script {source}, called with the limit `{limit}` and the CSV file "
        "{side} as arguments in this order.",
        "Call the shell script {source} on the limit `{limit}` and the file {side}, in this order, and redirect its "
        "output to {target}.",
    )
    knobs = (
        Knob(
            "headless",
            "constraint/header",
            (
                "Leave the header line out of the output.",
                "Only the lines below the header are wanted.",
                "There must be no header line in the result.",
            ),
            ambient=False,
            place=Place.LAST,
        ),
        Knob(
            "tabs",
            "constraint/separator",
            (
                "Put a tab in place of each comma of the output.",
                "In the result, tabs separate the cells instead of commas.",
                "The cells are to be set off by tabs, not by commas.",
            ),
            slips=("first_only",),
            ambient=False,
            place=Place.LAST,
        ),
    )

    def draw(self, dice: Dice, value: Script, knobs: Knobs) -> Params | None:
        """A limit; no cell may need quotes, which the script does not know."""
        numbers = [row[value.field - 1] for row in value.sample.rows if row[value.field - 1]]
        if not numbers or any(mark in cell for row in value.sample.rows for cell in row for mark in ',"'):
            return None
        return {"limit": dice.pick(numbers), "sample": value.sample, "tabs": "tabs" in knobs}

    def apply(self, value: Script, params: Params, knobs: Knobs, slip: str = "") -> Table:
        """The rows with at least the limit."""
        at, limit = value.field - 1, int(params["limit"])
        rows = [
            row
            for row in value.sample.rows
            if slip == "whole_file" or (int(row[at] or 0) >= limit) != (slip == "inverted")
        ]
        table = value.sample.with_rows(rows)
        if params["tabs"]:
            table = self._seen(table, {"tabs:first_only": 1}.get(slip, len(table.columns) if "tabs" in knobs else 0))
        return replace(table, header="headless" not in knobs)

    def _seen(self, table: Table, tabs: int) -> Table:
        """What a reader that expects tabs sees when only so many commas of a line have become tabs."""
        if tabs < len(table.columns):
            lines = [(*row[:tabs], ",".join(row[tabs:])) for row in [table.columns, *table.rows]]
            table = Table(lines[0], ("key", "name")[-1 - tabs :], tuple(lines[1:]))
        return replace(table, delimiter="\t")

    def slots(self, params: Params) -> Mapping[str, str]:
        """The limit."""
        return {"limit": params["limit"]}

    def side(self, params: Params) -> Value:
        """The file that the script reads."""
        sample: Table = params["sample"]
        return sample

    def solve(self, params: Params, knobs: Knobs, paths: Paths) -> str:
        """The call, and a filter for each knob."""
        filters = " | tail -n +2" if "headless" in knobs else ""
        filters += " | tr , '\\t'" if "tabs" in knobs else ""
        limit = shlex.quote(params["limit"])
        return SOLUTION.format(source=paths.source, target=paths.target, side=paths.side, limit=limit, filters=filters)


OPERATION = RunScript()
