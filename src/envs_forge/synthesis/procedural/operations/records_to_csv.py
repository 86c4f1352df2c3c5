"""Turn a JSON list of records into a CSV file."""

from __future__ import annotations

from collections.abc import Mapping

from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.synthesis.procedural.exported import HEADLESS, NULLS, SLIPS, base_words, exported, has_null, writing
from envs_forge.synthesis.procedural.operation import Knobs, Operation, Params, Paths
from envs_forge.synthesis.procedural.values.records import Records
from envs_forge.synthesis.procedural.values.table import Table

SOLUTION = """\
mkdir -p "$(dirname {target})"
python3 - {source} {target} <<'EOF'
import csv, json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    records = json.load(file)
{writing}EOF
"""


class RecordsToCsv(Operation):
    """records → table. Also the fixture of `query_service`."""

    id = "records_to_csv"
    title = "records as CSV"
    takes = Records
    gives = Table
    skills = ("domain/json", "artifact/json", "artifact/csv", "operation/convert-format")
    stems = ("flat", "converted", "plain")
    slips = SLIPS
    said = (
        "Convert {source}, a JSON list of records, to CSV in {target}: {then}one line a record, fields and records in "
        "the order in which they are given{null}.",
        "{source} is a list of JSON objects with the same fields; write it as a comma-separated table to {target}, "
        "{with}without changing the order of fields or records{null}.",
        "Turn the JSON records of {source} into the CSV file {target}, {whose}which keeps both the fields and the "
        "records in their given order{null}.",
    )
    knobs = (NULLS, HEADLESS)

    def draw(self, dice: Dice, value: Records, knobs: Knobs) -> Params | None:
        """Nothing to choose; what the base clause has to say."""
        return base_words(value.table, knobs) if has_null(value.table) >= ("nulls" in knobs) else None

    def apply(self, value: Records, params: Params, knobs: Knobs, slip: str = "") -> Table:
        """The table itself."""
        return exported(value.table, knobs, slip)

    def slots(self, params: Params) -> Mapping[str, str]:
        """What there is to say of header line and null."""
        return {name: str(words) for name, words in params.items()}

    def solve(self, params: Params, knobs: Knobs, paths: Paths) -> str:
        """JSON in, CSV out."""
        return SOLUTION.format(source=paths.source, target=paths.target, writing=writing(knobs))


OPERATION = RecordsToCsv()
