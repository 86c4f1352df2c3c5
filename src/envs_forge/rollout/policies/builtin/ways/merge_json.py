"""Merge two JSON objects."""

from __future__ import annotations

from envs_forge.rollout.policies.builtin.clauses import Clause
from envs_forge.rollout.policies.builtin.commands import folder_of, python, script
from envs_forge.rollout.policies.builtin.way import Detail, OperationWays, Options, Reading

CODE = """
import json, sys
first, second = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:3])
def both(a, b, kind):
    return isinstance(a, kind) and isinstance(b, kind)
def merge(a, b, depth=0):
    for key in list(b):
        if key not in a:
            a[key] = b[key]
        elif b[key] is None and {nulls}:
            {delete}
        elif both(a[key], b[key], dict) and {deep}:
            merge(a[key], b[key], depth + 1)
        elif both(a[key], b[key], list) and {lists}:
            a[key] = {joined}
        elif {overwrite} != (depth > 0 and {inner}):
            a[key] = b[key]
keys = list(first)
merge(first, second)
if {dropped}:
    first = {{key: first[key] for key in keys if key in first}}
with open(sys.argv[3], "w", encoding="utf-8") as file:
    json.dump(first, file)
"""


def read(clause: Clause, previous: str | None) -> Reading | None:
    """Both sources and the target."""
    target, sources = clause.target(), clause.sources()
    if not target or len(sources) != 2 or clause.names:
        return None
    return {"source": sources[0], "side": sources[1], "target": target}


def command(reading: Reading, options: Options) -> str:
    """Python over dictionaries."""
    code = CODE.format(
        nulls="nulls" in options,
        delete=options.get("nulls", "pass"),
        deep="deep" in options,
        inner=options.get("deep") == "inner_reversed",
        lists="lists" in options,
        joined=options.get("lists", "b[key]"),
        overwrite=bool(options.get("first_wins")) == bool(options.get("reverse")),
        dropped=bool(options.get("dropped")),
    )
    return script(folder_of(reading["target"]), python(code, reading["source"], reading["side"], reading["target"]))


WAYS = OperationWays(
    operation="merge_json",
    cues=frozenset({"merge", "object", "objects", "keys", "overlaid", "json"}),
    read=read,
    slips={"reversed": {"reverse": True}, "dropped": {"dropped": True}},
    details=(
        Detail(
            "deep",
            frozenset({"nested", "depth", "deep", "down", "objects"}),
            {"deep": "honour"},
            {"inner_reversed": {"deep": "inner_reversed"}},
        ),
        Detail(
            "join_lists",
            frozenset({"lists", "list", "elements", "joined", "append"}),
            {"lists": "a[key] + b[key]"},
            {"front": {"lists": "b[key] + a[key]"}},
        ),
        Detail(
            "null_deletes",
            frozenset({"null", "deletes", "removed", "gone"}),
            {"nulls": "a.pop(key)"},
            {"emptied": {"nulls": 'a[key] = ""'}},
        ),
        Detail(
            "precedence",
            frozenset({"contrary", "precedence", "overwrite", "stays", "decides"}),
            {"first_wins": True},
            {},
        ),
    ),
    command=command,
)
