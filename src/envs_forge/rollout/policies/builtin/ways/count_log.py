"""Count the lines of one level in a log."""

from __future__ import annotations

from envs_forge.rollout.policies.builtin.clauses import Clause
from envs_forge.rollout.policies.builtin.commands import folder_of, python, script
from envs_forge.rollout.policies.builtin.way import Detail, OperationWays, Options, Reading

CODE = """
import csv, re, sys
source, target, level, since, *columns = sys.argv[1:]
key, label = columns[:2]
found = {{}}
for line in open(source, encoding="utf-8", newline={newline!r}).read().rstrip("\\n").split("\\n"):
    fields = dict(re.findall(r'(\\w+)=("[^"]*"\\r?|[^ ]+)', line))
    if label not in fields:
        {damaged}
    if since and fields["time"] {early} since:
        continue
    own = fields["level"]{fold}
    if own == level{anywhere}:
        found.setdefault(fields[key], []).append(fields)
with open(target, "w", encoding="utf-8", newline="") as file:
    out = csv.writer(file, lineterminator="\\n")
    out.writerow(columns)
    for name, lines in found.items():
        shown = lines[0].get(label, "").replace('"', "")
        out.writerow([name, shown, len(lines), lines[{place}]["time"]])
"""


def read(clause: Clause, previous: str | None) -> Reading | None:
    """Source, target, level and the columns."""
    level = clause.name(after=("is", "equals"))
    columns = next((quote.text for quote in clause.names if "," in quote.text), None)
    ends = clause.ends(previous)
    if not (level and columns and ends):
        return None
    return {"source": ends[0], "target": ends[1], "level": level, "columns": columns.split(",")}


def read_since(clause: Clause) -> Reading | None:
    """The moment to begin with."""
    return {"since": clause.names[0].text} if clause.names else None


def command(reading: Reading, options: Options) -> str:
    """Python over lines."""
    code = CODE.format(
        newline=None if options.get("crlf") else "",
        damaged=options.get("damaged", "pass"),
        early=options.get("early", "<"),
        fold=".lower()" if options.get("fold") else "",
        anywhere=" or level in line" if options.get("anywhere") else "",
        place=options.get("place", -1),
    )
    since = reading.get("since", "") if options.get("early") else ""
    arguments = (reading["source"], reading["target"], reading["level"], since, *reading["columns"])
    return script(folder_of(reading["target"]), python(code, *arguments))


WAYS = OperationWays(
    operation="count_log",
    cues=frozenset({"log"}),
    read=read,
    slips={"anywhere": {"anywhere": True}, "earliest": {"place": 0}},
    details=(
        Detail("ignore_case", frozenset({"capitalisation", "case", "case-insensitive", "upper"}), {"fold": True}, {}),
        Detail(
            "malformed",
            frozenset({"break", "damaged", "cut", "missing", "skip"}),
            {"damaged": "continue"},
            {"stop": {"damaged": "break"}},
        ),
        Detail(
            "minimum",
            frozenset({"onwards", "before", "earlier", "moment"}),
            {"early": "<"},
            {"above": {"early": "<="}},
            read_since,
        ),
        Detail("crlf", frozenset({"crlf", "windows", "carriage", "ends"}), {"crlf": True}, {}),
    ),
    command=command,
)
