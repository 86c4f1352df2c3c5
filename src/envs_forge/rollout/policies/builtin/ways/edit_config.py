"""Change settings in a configuration file."""

from __future__ import annotations

from envs_forge.rollout.policies.builtin.clauses import Clause
from envs_forge.rollout.policies.builtin.commands import folder_of, python, script
from envs_forge.rollout.policies.builtin.way import Detail, OperationWays, Options, Reading

CODE = """
import sys
source, target, section, key, value, old_section, old_key, added = sys.argv[1:]
blocks = [[]]
for line in open(source, encoding="utf-8").read().splitlines():
    if line[:1] == "[":
        blocks.append([])
    blocks[-1].append(line)

def key_of(line):
    return line.split("=")[0].strip() if line[:1] not in "#[" and "=" in line else None

def fold(text):
    return {fold}

for block in blocks:
    here = block[:1] == [section]
    if here or {everywhere}:
        places = [i for i, line in enumerate(block) if key_of(line) is not None and fold(key_of(line)) == fold(key)]
        for i in places{some}:
            block[i] = {name} + " = " + value
    if old_key and (block[:1] == [old_section] or {purge}):
        block[:] = [line for line in block if fold(key_of(line) or "") != fold(old_key)]
    if here and {append}:
        block.append(key + " = " + value)
    if here and added and not {file_end}:
        block.append(added)
if added and {file_end}:
    blocks[-1].append(added)
with open(target, "w", encoding="utf-8") as file:
    file.writelines(line + "\\n" for block in blocks for line in block)
"""


def read(clause: Clause, previous: str | None) -> Reading | None:
    """Source, target, section, key and value."""
    section = next((quote.text for quote in clause.names if quote.text.startswith("[")), None)
    key, value = clause.name(after=("key", "option")), clause.name(after=("value", "to"))
    ends = clause.ends(previous)
    if not (section and key and value and ends):
        return None
    return {"source": ends[0], "target": ends[1], "section": section, "key": key, "value": value}


def read_added(clause: Clause) -> Reading | None:
    """The new key and its value."""
    names = [quote.text for quote in clause.names]
    return {"added": f"{names[0]} = {names[1]}"} if len(names) == 3 and names[2][0] == "[" else None


def read_removed(clause: Clause) -> Reading | None:
    """The key that goes, and its section."""
    names = [quote.text for quote in clause.names]
    return {"old_key": names[0], "old_section": names[1]} if len(names) == 2 and names[1][0] == "[" else None


def command(reading: Reading, options: Options) -> str:
    """Python over blocks of lines."""
    scope = options.get("scope", "")
    code = CODE.format(
        fold="text.lower()" if options.get("fold") else "text",
        everywhere=scope == "all",
        some=f"[{options['some']}]" if options.get("some") and not scope else "[:0]" if scope == "none" else "",
        name="key" if options.get("fold") == "lowered" else "key_of(block[i])",
        purge=options.get("remove") == "all",
        append=scope == "none",
        file_end=options.get("add") == "file",
    )
    names = ("source", "target", "section", "key", "value")
    removed = [reading[name] if options.get("remove") else "" for name in ("old_section", "old_key")]
    added = reading["added"] if options.get("add") else ""
    return script(folder_of(reading["target"]), python(code, *(reading[name] for name in names), *removed, added))


WAYS = OperationWays(
    operation="edit_config",
    cues=frozenset({"key", "section", "option", "settings", "configuration"}),
    read=read,
    slips={"every_section": {"scope": "all"}, "appended": {"scope": "none"}},
    details=(
        Detail(
            "add",
            frozenset({"add", "append", "new", "last", "also"}),
            {"add": "section"},
            {"file_end": {"add": "file"}},
            read_added,
        ),
        Detail(
            "remove",
            frozenset({"delete", "remove", "go"}),
            {"remove": "one"},
            {"everywhere": {"remove": "all"}},
            read_removed,
        ),
        Detail(
            "duplicates",
            frozenset({"once", "several", "twice", "last"}),
            {"some": "-1:"},
            {"first": {"some": ":1"}},
        ),
        Detail(
            "ignore_case",
            frozenset({"case-insensitive", "capitalisation", "case", "spelling"}),
            {"fold": "kept"},
            {"lowered": {"fold": "lowered"}},
        ),
    ),
    command=command,
)
