"""Turn a JSON list of records into a CSV file."""

from __future__ import annotations

from envs_forge.rollout.policies.builtin.clauses import Clause
from envs_forge.rollout.policies.builtin.commands import folder_of, python, script
from envs_forge.rollout.policies.builtin.csv_out import HEADLESS, NULLS, SLIPS, rows_of
from envs_forge.rollout.policies.builtin.way import OperationWays, Options, Reading


def read(clause: Clause, previous: str | None) -> Reading | None:
    """Source and target."""
    paths = [quote.text for quote in clause.paths]
    source = next((path for path in paths if path.endswith(".json")), None)
    target = next((path for path in paths if path.endswith(".csv")), None)
    return {"source": source, "target": target} if source and target and len(paths) == 2 else None


def command(reading: Reading, options: Options) -> str:
    """Read, convert, write."""
    code = f"import csv, json, sys\nrecords = json.load(open(sys.argv[1], encoding='utf-8'))\n{rows_of(options)}"
    return script(folder_of(reading["target"]), python(code, reading["source"], reading["target"]))


WAYS = OperationWays(
    operation="records_to_csv",
    cues=frozenset({"convert", "records", "json", "comma-separated", "header", "fields"}),
    read=read,
    slips=SLIPS,
    details=(NULLS, HEADLESS),
    command=command,
)
