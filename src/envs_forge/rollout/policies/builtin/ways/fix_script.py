"""Repair a shell script by changing its lines."""

from __future__ import annotations

import shlex

from envs_forge.rollout.policies.builtin.clauses import Clause
from envs_forge.rollout.policies.builtin.commands import folder_of, python, script
from envs_forge.rollout.policies.builtin.way import Detail, OperationWays, Options, Reading

CODE = """
import re, sys
source, target = sys.argv[1:]
text = open(source, encoding="utf-8").read()
{changes}
with open(target, "w", encoding="utf-8") as file:
    file.write(text)
"""
COMPARE = r"""text = re.sub(r'\[\[ ("\$\w+") > ("\$\w+") \]\]', r'[ \1 {sign} \2 ]', text)"""
QUOTE = r"""text = re.sub(r'(?<=[ =])\$file\b', '"$file"', text)"""
CHECK = r"""text = re.sub(r'^(file=.*)$', r'\1\n[ -e "$file" ] || exit {status}', text, flags=re.M)"""
LAST = r"""text = re.sub(r'read -r line *;', 'read -r line || [ -n "$line" ];', text)"""


def read(clause: Clause, previous: str | None) -> Reading | None:
    """The script and where the repaired one goes."""
    paths = [quote.text for quote in clause.paths]
    target = clause.target()
    programs = [path for path in paths if path != target]
    return {"source": programs[0], "target": target} if target and len(programs) == 1 else None


def read_status(clause: Clause) -> Reading | None:
    """The exit status."""
    return {"status": clause.numbers[0]} if len(clause.numbers) == 1 else None


def command(reading: Reading, options: Options) -> str:
    """Regular expressions on the text of the script."""
    changes = [] if options.get("leave") else [COMPARE.format(sign=options.get("sign", "-ge"))]
    changes += [QUOTE] if options.get("quote") else []
    if options.get("check"):
        changes.append(CHECK.format(status=reading["status"] if options["check"] == "said" else 1))
    changes += [LAST] if options.get("last") else []
    parts = [folder_of(reading["target"])]
    parts.append(python(CODE.format(changes="\n".join(changes)), reading["source"], reading["target"]))
    parts += [f"chmod +x {shlex.quote(reading['target'])}"] if options.get("executable") else []
    return script(*parts)


WAYS = OperationWays(
    operation="fix_script",
    cues=frozenset({"script", "repair", "repaired", "corrected"}),
    read=read,
    slips={"strict": {"sign": "-gt"}, "unrepaired": {"leave": True}},
    details=(
        Detail("spaces", frozenset({"spaces"}), {"quote": True}, {}),
        Detail(
            "exit_status",
            frozenset({"exit", "status", "code", "missing"}),
            {"check": "said"},
            {"one": {"check": "one"}},
            read_status,
        ),
        Detail("last_line", frozenset({"last", "newline"}), {"last": True}, {}),
        Detail("executable", frozenset({"executable", "run", "bit"}), {"executable": True}, {}),
    ),
    command=command,
)
