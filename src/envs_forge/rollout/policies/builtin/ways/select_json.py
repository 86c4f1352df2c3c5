"""Select records of a JSON list, as a table."""

from __future__ import annotations

from envs_forge.rollout.policies.builtin.clauses import Clause
from envs_forge.rollout.policies.builtin.commands import folder_of, python, script
from envs_forge.rollout.policies.builtin.csv_out import HEADLESS, NULLS, rows_of
from envs_forge.rollout.policies.builtin.way import Detail, OperationWays, Options, Reading

CODE = """
import csv, json, sys
source, field, match, fields = sys.argv[1:5]
def at(record, path):
    for part in path.strip(" .").split("."):
        record = record.get(part, "") if isinstance(record, dict) else ""
    return record
def fits(text):
    return {test}
chosen = [record for record in json.load(open(source, encoding="utf-8")) if {picked}]
records = [{{path.split(".")[-1]: at(record, path) for path in fields.split(", ")}} for record in chosen]
{write}
"""


def read(clause: Clause, previous: str | None) -> Reading | None:
    """Source, target, the path to compare, the value, and the paths to write."""
    reading = {
        "field": clause.name(after=("whose", "at")),
        "match": clause.name(after=("is", "equals", "has")),
        "fields": next((quote.text for quote in clause.names if ", ." in quote.text), None),
    }
    ends = clause.ends(previous)
    return {"source": ends[0], "target": ends[1], **reading} if ends and all(reading.values()) else None


def command(reading: Reading, options: Options) -> str:
    """JSON in, csv out."""
    text, match = ("text.lower()", "match.lower()") if options.get("fold") else ("text", "match")
    test = f"{match} in {text}" if options.get("substring") else f"{text} == {match}"
    test = f'{test} or text == ""' if options.get("blank") else test
    picked = "not fits(at(record, field))" if options.get("invert") else "fits(at(record, field))"
    code = CODE.format(test=test, picked=picked, write=rows_of(options))
    arguments = (reading["source"], reading["field"], reading["match"], reading["fields"], reading["target"])
    return script(folder_of(reading["target"]), python(code, *arguments))


WAYS = OperationWays(
    operation="select_json",
    cues=frozenset({"json", "path", "paths", "record", "records"}),
    read=read,
    slips={"inverted": {"invert": True}, "substring": {"substring": True}},
    details=(
        Detail(
            "ignore_case",
            frozenset({"case", "case-insensitive", "capitalisation", "upper", "lower"}),
            {"fold": True},
            {},
        ),
        Detail("blank_matches", frozenset({"lacks", "no", "without", "any"}), {"blank": True}, {}),
        NULLS,
        HEADLESS,
    ),
    command=command,
)
