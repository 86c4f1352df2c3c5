"""Copy a tree of files with another ending to their names."""

from __future__ import annotations

import shlex

from envs_forge.rollout.policies.builtin.clauses import Clause
from envs_forge.rollout.policies.builtin.commands import folder_of, python, script
from envs_forge.rollout.policies.builtin.way import Detail, OperationWays, Options, Reading

CODE = """
import os, sys
target, old, new = sys.argv[1:]
for folder, _, names in os.walk(target):
    for name in names:
        fresh, path = name, os.path.join(folder, name)
        if name.endswith("." + old) and not os.path.islink(path) {test}:
            fresh = name{cut} + "." + new
            {adjust}
        {every}
        os.rename(path, os.path.join(folder, fresh))
"""


def read(clause: Clause, previous: str | None) -> Reading | None:
    """Source, target and both endings."""
    endings = [quote.text.lstrip("*").lstrip(".") for quote in clause.quotes if quote.text.lstrip("*").startswith(".")]
    ends = clause.ends(previous)
    if not ends or len(endings) != 2:
        return None
    return {"source": ends[0], "target": ends[1], "old": endings[0], "new": endings[1]}


def command(reading: Reading, options: Options) -> str:
    """cp, then os.rename."""
    source, target = reading["source"], reading["target"]
    tests = ["and folder == target"] if options.get("top_only") else []
    tests += ["and name[0] != '.'"] if options.get("skip_hidden") else []
    adjust = [f"fresh = fresh.replace(' ', {options['spaces']!r})"] if "spaces" in options else []
    adjust += ["fresh = fresh.lower()"] if options.get("lower") else []
    code = CODE.format(
        test=" ".join(tests),
        cut="" if options.get("append") else "[:-len(old) - 1]",
        adjust="; ".join(adjust) or "pass",
        every="fresh = fresh.lower()" if options.get("lower") == "all" else "pass",
    )
    copy = f"rm -rf {shlex.quote(target)}; cp -a {shlex.quote(source)} {shlex.quote(target)}"
    return script(folder_of(target), copy, python(code, target, reading["old"], reading["new"]))


WAYS = OperationWays(
    operation="rename_files",
    cues=frozenset({"copy", "ending", "rename", "directory", "folder", "files", "subdirectories", "depth"}),
    read=read,
    slips={"appended": {"append": True}, "top_only": {"top_only": True}},
    details=(
        Detail(
            "lower",
            frozenset({"lower-case", "lower", "case"}),
            {"lower": "renamed"},
            {"all_files": {"lower": "all"}},
        ),
        Detail(
            "spaces",
            frozenset({"space", "spaces", "blanks", "underscore", "underscores"}),
            {"spaces": "_"},
            {"removed": {"spaces": ""}},
        ),
        Detail("skip_hidden", frozenset({"hidden", "dot"}), {"skip_hidden": True}, {}),
    ),
    command=command,
)
