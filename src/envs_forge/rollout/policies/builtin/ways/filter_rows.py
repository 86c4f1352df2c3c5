"""Keep the rows of a table whose label has one value."""

from __future__ import annotations

from envs_forge.rollout.policies.builtin.clauses import Clause
from envs_forge.rollout.policies.builtin.commands import folder_of, python, script
from envs_forge.rollout.policies.builtin.way import Detail, OperationWays, Options, Reading

CODE = """
import csv, sys
source, target, column, value = sys.argv[1:]
with open(source, newline="", encoding="utf-8") as file:
    header, *rows = csv.reader(file)
at = header.index(column)
def plain(text):
    {plain}
    return text
rows = [row for row in rows if {test}]
{after}
with open(target, "w", newline="", encoding="utf-8") as file:
    csv.writer(file, lineterminator="\\n").writerows([header, *rows])
"""


def read(clause: Clause, previous: str | None) -> Reading | None:
    """Source, target, column and value."""
    column = clause.name(after=("column", "whose", "field"))
    value = clause.name(after=("is", "equals", "has", "value", "be"), before=("in",))
    ends = clause.ends(previous)
    if not (column and value and ends) or column == value:
        return None
    return {"source": ends[0], "target": ends[1], "column": column, "value": value}


def command(reading: Reading, options: Options) -> str:
    """CSV in, csv out."""
    plain = ["text = text.strip()"] if options.get("strip") else []
    plain += ["text = text.lower()"] if options.get("fold") else []
    test = "plain(value) in plain(row[at])" if options.get("substring") else "plain(row[at]) == plain(value)"
    test = f"({test} or not row[at])" if options.get("blank") else test
    test = f"not ({test})" if options.get("invert") else test
    after = ["rows = [[cell.strip() for cell in row] for row in rows]"] if options.get("write_stripped") else []
    after += ["for row in rows: row[at] = row[at].lower()"] if options.get("write_folded") else []
    code = CODE.format(plain="; ".join(plain) or "pass", test=test, after="\n".join(after))
    arguments = (reading["source"], reading["target"], reading["column"], reading["value"])
    return script(folder_of(reading["target"]), python(code, *arguments))


WAYS = OperationWays(
    operation="filter_rows",
    cues=frozenset({"rows", "row", "records", "keep", "select", "whose", "order", "original", "unchanged"}),
    read=read,
    slips={"inverted": {"invert": True}, "substring": {"substring": True}},
    details=(
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
        Detail("blank_matches", frozenset({"empty", "blank", "without", "any"}), {"blank": True}, {}),
    ),
    command=command,
)
