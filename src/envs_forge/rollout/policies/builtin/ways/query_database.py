"""Select rows from an SQLite database."""

from __future__ import annotations

import shlex

from envs_forge.rollout.policies.builtin.clauses import Clause
from envs_forge.rollout.policies.builtin.commands import folder_of, script
from envs_forge.rollout.policies.builtin.way import Detail, OperationWays, Options, Reading


def read(clause: Clause, previous: str | None) -> Reading | None:
    """Source, target, table, columns and value."""
    reading = {
        "table": clause.name(after=("table",)),
        "number": clause.name(after=("largest", "of", "by")),
        "label": clause.name(after=("whose", "which", "column")),
        "match": clause.name(after=("is", "equals", "have")),
    }
    ends = clause.ends(previous)
    return {"source": ends[0], "target": ends[1], **reading} if ends and all(reading.values()) else None


def read_key(clause: Clause) -> Reading | None:
    """The column that settles ties."""
    return {"key": clause.names[0].text} if clause.names else None


def command(reading: Reading, options: Options) -> str:
    """The sqlite3 command line."""
    number, label = f'"{reading["number"]}"', f'"{reading["label"]}"'
    match = "'" + reading["match"].replace("'", "''") + "'"
    fits = f"lower({label}) = lower({match})" if options.get("fold") else f"{label} = {match}"
    tests = [f"({fits} OR {label} IS NULL)" if options.get("blank_matches") else fits]
    if options.get("all_rows"):
        tests = ["1"]
    tests += [f"{number} IS {options['nulls']}"] if options.get("nulls") else []
    order = f"{number} {options.get('order', 'DESC')}"
    order += ', "{key}" {ties}'.format(**reading, **options) if options.get("ties") else ", rowid"
    query = f'SELECT * FROM "{reading["table"]}" WHERE {" AND ".join(tests)} ORDER BY {order};'
    run = f"sqlite3 -header -csv {shlex.quote(reading['source'])} {shlex.quote(query)}"
    return script(folder_of(reading["target"]), f"{run} | tr -d '\\r' > {shlex.quote(reading['target'])}")


WAYS = OperationWays(
    operation="query_database",
    cues=frozenset({"database", "query", "table"}),
    read=read,
    slips={"reversed": {"order": "ASC"}, "all_rows": {"all_rows": True}},
    details=(
        Detail(
            "tie_order",
            frozenset({"equal", "same", "ordered", "smaller"}),
            {"ties": "ASC"},
            {"descending": {"ties": "DESC"}},
            read_key,
        ),
        Detail(
            "drop_nulls",
            frozenset({"null", "leave", "without", "wanted"}),
            {"nulls": "NOT NULL"},
            {"only": {"nulls": "NULL"}},
        ),
        Detail("ignore_case", frozenset({"case", "case-insensitive", "capitalisation"}), {"fold": True}, {}),
        Detail("blank_matches", frozenset({"null", "matching", "qualifies", "well"}), {"blank_matches": True}, {}),
    ),
    command=command,
)
