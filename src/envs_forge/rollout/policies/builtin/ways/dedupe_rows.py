"""One row for each value of a column."""

from __future__ import annotations

from envs_forge.rollout.policies.builtin.clauses import Clause
from envs_forge.rollout.policies.builtin.commands import folder_of, python, script
from envs_forge.rollout.policies.builtin.way import Detail, OperationWays, Options, Reading

CODE = """
import csv, sys
source, target, column, date = sys.argv[1:]
with open(source, newline="", encoding="utf-8") as file:
    header, *rows = csv.reader(file)
at = header.index(column)
def same(number):
    text = rows[number][at]
    {plain}
    return {same}
groups = {{}}
for number in range(len(rows)):
    groups.setdefault(same(number), []).append(number)
kept = [rows[number] for number in sorted({choose} for group in groups.values())]
{after}
with open(target, "w", newline="", encoding="utf-8") as file:
    csv.writer(file, lineterminator="\\n").writerows([header, *kept])
"""
BY_DATE = "{}(group, key=lambda number: rows[number][header.index(date)])"


def read(clause: Clause, previous: str | None) -> Reading | None:
    """Source, target and the column that must be unique."""
    column = clause.name(after=("their", "each", "distinct"))
    ends = clause.ends(previous)
    return {"source": ends[0], "target": ends[1], "column": column} if column and ends else None


def read_date(clause: Clause) -> Reading | None:
    """The column that decides."""
    date = clause.name(after=("but", "latest", "their"))
    return {"date": date} if date else None


def command(reading: Reading, options: Options) -> str:
    """CSV in, csv out."""
    plain = ["text = text.strip()"] if options.get("strip") else []
    plain += ["text = text.lower()"] if options.get("fold") else []
    same = "tuple(rows[number])" if options.get("whole") else "text"
    choose = "group[-1]" if options.get("last") else "group[0]"
    if options.get("date") and not options.get("last"):
        choose = BY_DATE.format(options["date"])
    after = ["kept = [[cell.strip() for cell in row] for row in kept]"] if options.get("write_stripped") else []
    after += ["for row in kept: row[at] = row[at].lower()"] if options.get("write_folded") else []
    code = CODE.format(
        plain="; ".join(plain) or "pass",
        same=f"{same} if rows[number][at].strip() else number" if options.get("blank") else same,
        choose=choose,
        after="\n".join(after),
    )
    arguments = (reading["source"], reading["target"], reading["column"], reading.get("date", ""))
    return script(folder_of(reading["target"]), python(code, *arguments))


WAYS = OperationWays(
    operation="dedupe_rows",
    cues=frozenset({"duplicates", "share", "once", "distinct", "copy", "namely"}),
    read=read,
    slips={"last": {"last": True}, "whole_row": {"whole": True}},
    details=(
        Detail(
            "newest",
            frozenset({"recent", "latest", "newest", "position"}),
            {"date": "max"},
            {"oldest": {"date": "min"}},
            read_date,
        ),
        Detail(
            "ignore_case",
            frozenset({"case", "case-insensitive", "capitalisation", "upper", "lower"}),
            {"fold": True},
            {"folded": {"fold": True, "write_folded": True}},
        ),
        Detail(
            "padding",
            frozenset({"spaces", "blanks", "strip", "padded", "surrounding"}),
            {"strip": True},
            {"stripped": {"strip": True, "write_stripped": True}},
        ),
        Detail("blank_kept", frozenset({"empty", "blank", "missing", "never"}), {"blank": True}, {}),
    ),
    command=command,
)
