"""Add up a number by label, as JSON."""

from __future__ import annotations

from envs_forge.rollout.policies.builtin.clauses import Clause
from envs_forge.rollout.policies.builtin.commands import folder_of, python, script
from envs_forge.rollout.policies.builtin.way import Detail, OperationWays, Options, Reading

CODE = """
import csv, json, sys
source, target, label, number = sys.argv[1:]
sums = {{}}
with open(source, newline="", encoding="utf-8") as file:
    for row in csv.DictReader(file):
        name, amount = row[label], int(row[number] or 0)
        {rename}
        sums[name] = {total}
{after}
with open(target, "w", encoding="utf-8") as file:
    json.dump(sums, file)
"""


def read(clause: Clause, previous: str | None) -> Reading | None:
    """Source, target, label and number columns."""
    label = clause.name(after=("every", "by", "each"))
    number = clause.name(after=("up", "column", "sum", "total"), before=("values",))
    if number is None:
        number = next((quote.text for quote in clause.names if quote.after[:1] == ("values",)), None)
    ends = clause.ends(previous)
    if not (label and number and ends):
        return None
    return {"source": ends[0], "target": ends[1], "label": label, "number": number}


def read_least(clause: Clause) -> Reading | None:
    """The threshold."""
    return {"least": clause.numbers[0]} if clause.numbers else None


def command(reading: Reading, options: Options) -> str:
    """CSV in, json out."""
    rename = [f"name = name.{options['fold']}()"] if options.get("fold") else []
    rename += ["name = name or 'unknown'"] if options.get("unknown") else []
    rename += ["if not name: continue"] if options.get("drop_blank") else []
    total = {
        "count": "sums.get(name, 0) + 1",
        "largest": "max(sums.get(name, 0), amount)",
    }.get(options.get("total", ""), "sums.get(name, 0) + amount")
    limit = options.get("limit")
    after = f"sums = {{k: v for k, v in sums.items() if v {limit} {reading['least']}}}" if limit else ""
    code = CODE.format(rename="\n        ".join(rename) or "pass", total=total, after=after)
    arguments = (reading["source"], reading["target"], reading["label"], reading["number"])
    return script(folder_of(reading["target"]), python(code, *arguments))


WAYS = OperationWays(
    operation="tally",
    cues=frozenset({"add", "up", "sum", "sums", "total", "group", "object", "maps"}),
    read=read,
    slips={"count": {"total": "count"}, "largest": {"total": "largest"}},
    details=(
        Detail(
            "ignore_case",
            frozenset({"case", "case-insensitive", "capitalisation", "upper", "lower", "lower-case"}),
            {"fold": "lower"},
            {"upper": {"fold": "upper"}},
        ),
        Detail(
            "blank_label",
            frozenset({"empty", "blank", "missing", "called"}),
            {"unknown": True},
            {"dropped": {"drop_blank": True}},
        ),
        Detail(
            "minimum",
            frozenset({"below", "least", "less", "omitted", "leave"}),
            {"limit": ">="},
            {"above": {"limit": ">"}},
            read_least,
        ),
    ),
    command=command,
)
