"""Load a table into an SQLite database."""

from __future__ import annotations

import shlex

from envs_forge.rollout.policies.builtin.clauses import Clause
from envs_forge.rollout.policies.builtin.commands import folder_of, python, script
from envs_forge.rollout.policies.builtin.way import Detail, OperationWays, Options, Reading

CODE = """
import csv, sqlite3, sys
source, target, table, label, text, *numbers = sys.argv[1:]
rows = list(csv.reader(open(source, newline="", encoding="utf-8")))
names = rows{skip}
types = {types}
database = sqlite3.connect(target)
database.execute('CREATE TABLE "%s" (%s)' % (table, ", ".join('"%s" %s' % pair for pair in zip(names, types))))
at = names.index(label) if label else None
for row in rows:
    {change}
    values = [None if cell == "" else cell for cell in row]
    database.execute('INSERT INTO "%s" VALUES (%s)' % (table, ", ".join("?" * len(values))), values)
database.commit()
"""


def read(clause: Clause, previous: str | None) -> Reading | None:
    """Source, target, table and the columns of integers."""
    ends = clause.ends(previous)
    table = clause.name(after=("table", "named"))
    numbers = [quote.text for quote in clause.names if quote.text != table]
    fits = ends and table and numbers and "sqlite" in clause.words and "header" in clause.words
    return {"source": ends[0], "target": ends[1], "table": table, "numbers": numbers} if ends and fits else None


def read_pair(clause: Clause) -> Reading | None:
    """A column, and a text for it."""
    names = [quote.text for quote in clause.names]
    if len(names) != 2:
        return None
    first, second = names[::-1] if {"store"} & {*clause.words} else names
    return {"label": first, "text": second}


def command(reading: Reading, options: Options) -> str:
    """Python's sqlite3."""
    change = {
        "only": "if at is not None and row[at] != text: continue",
        "without": "if at is not None and row[at] == text: continue",
        "fill": "row[at] = row[at] or text",
    }.get(options.get("change", ""), "pass")
    code = CODE.format(
        skip="[0]" if options.get("header") else ".pop(0)",
        types='["TEXT" for name in names]'
        if options.get("header") or options.get("text")
        else '["INTEGER" if name in numbers else "TEXT" for name in names]',
        change=change,
    )
    pair = [reading[name] if options.get("change") else "" for name in ("label", "text")]
    ends = (reading["source"], reading["target"], reading["table"])
    clear = f"rm -f {shlex.quote(reading['target'])}"
    return script(folder_of(reading["target"]), clear, python(code, *ends, *pair, *reading["numbers"]))


WAYS = OperationWays(
    operation="load_database",
    cues=frozenset({"sqlite", "database", "load", "table"}),
    read=read,
    slips={"all_text": {"text": True}, "header_row": {"header": True}},
    details=(
        Detail(
            "only_label",
            frozenset({"only", "another", "skip", "belong"}),
            {"change": "only"},
            {"without": {"change": "without"}},
            read_pair,
        ),
        Detail("unknown", frozenset({"empty", "missing"}), {"change": "fill"}, {}, read_pair),
    ),
    command=command,
)
