"""Copy a tree of files and set the modes in the copy."""

from __future__ import annotations

import re
import shlex

from envs_forge.rollout.policies.builtin.clauses import Clause
from envs_forge.rollout.policies.builtin.commands import folder_of, python, script
from envs_forge.rollout.policies.builtin.way import Detail, OperationWays, Options, Reading

MODE = re.compile(r"[0-7]{3}")
CODE = """
import os, sys
top, ending, mode, rest, run, empty = sys.argv[1:]
for folder, _, names in os.walk(top):
    for name in names:
        path = os.path.join(folder, name)
        if os.path.islink(path):
            continue
        before = os.stat(path)
        hit = name.endswith("." + ending) {test}
        chosen = int(mode, 8) if hit else {other}
        if run and before.st_mode & 64:
            chosen = {run}
        if empty and not before.st_size:
            chosen = int(empty, 8)
        os.chmod(path, chosen)
"""


def read(clause: Clause, previous: str | None) -> Reading | None:
    """Source, target, ending and two modes."""
    modes = [quote.text for quote in clause.quotes if MODE.fullmatch(quote.text)]
    ending = next((quote.text.lstrip("*")[1:] for quote in clause.quotes if quote.text.lstrip("*")[:1] == "."), None)
    ends = clause.ends(previous)
    if not ends or not ending or len(modes) != 2:
        return None
    return {"source": ends[0], "target": ends[1], "ending": ending, "mode": modes[0], "rest": modes[1]}


def read_mode(name: str, clause: Clause) -> Reading | None:
    """The one mode of a sentence."""
    modes = [quote.text for quote in clause.quotes if MODE.fullmatch(quote.text)]
    return {name: modes[0]} if len(modes) == 1 else None


def command(reading: Reading, options: Options) -> str:
    """cp, then os.chmod."""
    source, target = reading["source"], reading["target"]
    tests = ["and folder == top"] if options.get("top_only") else []
    tests += ["and name[0] != '.'"] if options.get("skip_hidden") else []
    code = CODE.format(
        test=" ".join(tests),
        other="before.st_mode & 0o7777" if options.get("keep") else "int(rest, 8)",
        run="chosen | 0o111" if options.get("executable") == "added" else "int(run, 8)",
    )
    copy = f"rm -rf {shlex.quote(target)}; cp -a {shlex.quote(source)} {shlex.quote(target)}"
    more = [reading[name] if options.get(on) else "" for name, on in (("run", "executable"), ("empty", "empty"))]
    arguments = (target, reading["ending"], reading["mode"], reading["rest"], *more)
    return script(folder_of(target), copy, python(code, *arguments))


WAYS = OperationWays(
    operation="set_permissions",
    cues=frozenset({"mode", "permissions"}),
    read=read,
    slips={"top_only": {"top_only": True}, "others_kept": {"keep": True}},
    details=(
        Detail("skip_hidden", frozenset({"hidden", "dot"}), {"skip_hidden": True}, {}),
        Detail(
            "executable",
            frozenset({"executable", "run", "executed"}),
            {"executable": "set"},
            {"added": {"executable": "added"}},
            lambda clause: read_mode("run", clause),
        ),
        Detail(
            "empty",
            frozenset({"empty", "zero", "content"}),
            {"empty": True},
            {},
            lambda clause: read_mode("empty", clause),
        ),
    ),
    command=command,
)
