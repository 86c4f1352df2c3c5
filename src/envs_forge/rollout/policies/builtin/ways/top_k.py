"""The rows with the largest or smallest numbers, sorted."""

from __future__ import annotations

from envs_forge.rollout.policies.builtin.clauses import Clause
from envs_forge.rollout.policies.builtin.commands import folder_of, python, script
from envs_forge.rollout.policies.builtin.way import Detail, OperationWays, Options, Reading

CODE = """
import csv, sys
source, target, column, count, order, tie = sys.argv[1:]
with open(source, newline="", encoding="utf-8") as file:
    header, *rows = csv.reader(file)
at, count, down = header.index(column), int(count), order == "largest"
{before}
rank = lambda row: {rank}
rows.sort(key=rank, reverse=down)
{cut}
with open(target, "w", newline="", encoding="utf-8") as file:
    csv.writer(file, lineterminator="\\n").writerows([header, *rows[:count]])
"""
LONGER = "while count < len(rows) and rank(rows[count]) == rank(rows[count - 1]): count += 1"
OPPOSITE = {"largest": "smallest", "smallest": "largest"}
TIE_COLUMN = ("by", "smaller", "column")


def read(clause: Clause, previous: str | None) -> Reading | None:
    """Source, target, column, count and order."""
    column = clause.name(after=("in", "column", "largest", "smallest", "highest", "lowest"))
    ends = clause.ends(previous)
    order = next((word for word in ("largest", "smallest") if word in clause.words), None)
    if not (column and ends and order and clause.numbers):
        return None
    return {"source": ends[0], "target": ends[1], "column": column, "count": clause.numbers[0], "order": order}


def read_tie(clause: Clause) -> Reading | None:
    """The column that settles ties."""
    tie = clause.name(after=TIE_COLUMN)
    return {"tie": tie} if tie else None


def command(reading: Reading, options: Options) -> str:
    """CSV in, csv out."""
    number = "float(row[at] or 0)" if options.get("zero") else "float(row[at])"
    before = [] if options.get("zero") else ["rows = [row for row in rows if row[at]]"]
    if options.get("tie_order"):
        reverse = options["tie_order"] == "descending"
        before.append(f"rows.sort(key=lambda row: row[header.index(tie)], reverse={reverse})")
    code = CODE.format(
        before="\n".join(before),
        rank="row[at]" if options.get("lexical") else number,
        cut=LONGER if options.get("ties") else "",
    )
    order = OPPOSITE[reading["order"]] if options.get("reverse") else reading["order"]
    arguments = (reading["source"], reading["target"], reading["column"], reading["count"], order)
    return script(folder_of(reading["target"]), python(code, *arguments, reading.get("tie", "")))


WAYS = OperationWays(
    operation="top_k",
    cues=frozenset({"sort", "first", "largest", "smallest", "numerically", "take", "list", "numbers"}),
    read=read,
    slips={"lexical": {"lexical": True}, "reversed": {"reverse": True}},
    details=(
        Detail("ties", frozenset({"tie", "ties", "tied", "share", "cut", "longer"}), {"ties": True}, {}),
        Detail(
            "tie_order",
            frozenset({"equal", "same", "among", "ascending", "ordered"}),
            {"tie_order": "ascending"},
            {"descending": {"tie_order": "descending"}},
            read_tie,
        ),
        Detail("blank_zero", frozenset({"empty", "blank", "missing", "zero"}), {"zero": True}, {}),
    ),
    command=command,
)
