"""Write the settings of a configuration file as JSON."""

from __future__ import annotations

from envs_forge.rollout.policies.builtin.clauses import Clause
from envs_forge.rollout.policies.builtin.commands import folder_of, python, script
from envs_forge.rollout.policies.builtin.way import Detail, OperationWays, Options, Reading

CODE = """
import json, re, sys
source, target, section = sys.argv[1:]
found, here = {{}}, None
for line in open(source, encoding="utf-8"):
    line = line.strip()
    if line.startswith("["):
        here = found.setdefault(line.strip("[]"), {{}})
    elif line.startswith("#"):
        {comment}
    elif "=" in line:
        key, value = (part.strip() for part in line.split("=", 1))
        here[key{spelling}] = {value}
{after}
json.dump(found, open(target, "w", encoding="utf-8"))
"""


def read(clause: Clause, previous: str | None) -> Reading | None:
    """Source and target."""
    ends = clause.ends(previous)
    fits = ends and ends[1].endswith(".json") and "comments" in clause.words
    return {"source": ends[0], "target": ends[1]} if ends and fits else None


def read_section(clause: Clause) -> Reading | None:
    """One name in brackets."""
    names = [quote.text for quote in clause.names if quote.text.startswith("[")]
    return {"excluded": names[0].strip("[]")} if len(names) == 1 else None


def command(reading: Reading, options: Options) -> str:
    """Line by line."""
    number = options.get("numbers")
    after = {"out": ["del found[section]"], "in": ["found = {section: found[section]}"]}.get(
        options.get("exclude", ""), []
    )
    after += ["found = {key: found[name][key] for name in found for key in found[name]}"] if options.get("flat") else []
    code = CODE.format(
        comment="here[line] = ''" if options.get("comments") else "pass",
        spelling=f".{options['fold']}()" if options.get("fold") else "",
        value=f"int(value) if re.fullmatch('[0-9]+', value) else {number}" if number else "value",
        after="\n".join(after),
    )
    excluded = reading["excluded"] if options.get("exclude") else ""
    return script(folder_of(reading["target"]), python(code, reading["source"], reading["target"], excluded))


WAYS = OperationWays(
    operation="config_to_json",
    cues=frozenset({"settings", "configuration", "json", "sections", "section"}),
    read=read,
    slips={"flat": {"flat": True}, "comments": {"comments": True}},
    details=(
        Detail(
            "numbers",
            frozenset({"digits", "number", "numbers", "whole"}),
            {"numbers": "value"},
            {"all_zero": {"numbers": "0"}},
        ),
        Detail(
            "ignore_case",
            frozenset({"case", "lower"}),
            {"fold": "lower"},
            {"upper": {"fold": "upper"}},
        ),
        Detail(
            "exclude",
            frozenset({"leave", "section", "without", "wanted"}),
            {"exclude": "out"},
            {"only": {"exclude": "in"}},
            read_section,
        ),
    ),
    command=command,
)
