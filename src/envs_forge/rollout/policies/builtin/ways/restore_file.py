"""Bring back a file that was deleted in a Git repository."""

from __future__ import annotations

from envs_forge.rollout.policies.builtin.clauses import Clause
from envs_forge.rollout.policies.builtin.commands import folder_of, python, script
from envs_forge.rollout.policies.builtin.way import Detail, OperationWays, Options, Reading

CODE = """
import subprocess, sys
source, target, path, branch, author = sys.argv[1:]

def git(*words):
    return subprocess.run(["git", "-C", source, *words], check=True, stdout=subprocess.PIPE).stdout

versions = []
for row in git("log", "--format=%H %an", branch, "--", path).decode().splitlines():
    commit, name = row.split(" ", 1)
    if git("ls-tree", commit, "--", path) and (not author or name == author):
        versions.append(commit)
open(target, "wb").write(git("show", {which} + ":" + path))
"""


def read(clause: Clause, previous: str | None) -> Reading | None:
    """Repository, file, branch and target."""
    paths = [quote.text for quote in clause.paths]
    target = clause.target()
    file = next((path for path in paths if "/" not in path), None)
    source = next((path for path in paths if path not in (target, file)), previous)
    branch = clause.name(after=("branch",))
    if not (file and source and branch and target) or file == target:
        return None
    return {"source": source, "target": target, "file": file, "branch": branch}


def read_branch(clause: Clause) -> Reading | None:
    """The other branch."""
    branch = clause.name(after=("branch",))
    return {"other": branch} if branch else None


def read_author(clause: Clause) -> Reading | None:
    """The one name."""
    return {"author": clause.names[0].text} if len(clause.names) == 1 else None


def command(reading: Reading, options: Options) -> str:
    """Walk the log, show one version."""
    which = f"versions[{options.get('back', 0)}]"
    code = CODE.format(which={"first": "versions[-1]", "head": "branch"}.get(options.get("version", ""), which))
    branch = reading["other"] if options.get("branch") else reading["branch"]
    author = reading["author"] if options.get("author") else ""
    arguments = (reading["source"], reading["target"], reading["file"], branch, author)
    return script(folder_of(reading["target"]), python(code, *arguments))


WAYS = OperationWays(
    operation="restore_file",
    cues=frozenset({"git", "repository", "branch", "deleted", "recover"}),
    read=read,
    slips={"first_version": {"version": "first"}, "current": {"version": "head"}},
    details=(
        Detail("branch", frozenset({"branch"}), {"branch": True}, {}, read_branch),
        Detail("author", frozenset({"author", "committed", "written"}), {"author": True}, {}, read_author),
        Detail(
            "before_last",
            frozenset({"last", "before", "versions", "version"}),
            {"back": 1},
            {"two_back": {"back": 2}},
        ),
    ),
    command=command,
)
