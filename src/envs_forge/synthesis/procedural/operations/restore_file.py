"""Bring back a file that was deleted in a Git repository."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from itertools import pairwise

from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.synthesis.procedural.operation import Knob, Knobs, Operation, Params, Paths
from envs_forge.synthesis.procedural.values.repository import MAIN, Repository
from envs_forge.synthesis.procedural.values.table import Table

SOLUTION = """\
mkdir -p "$(dirname {target})"
commits=($(git -C {source} log {choice}--diff-filter=AM --format=%H {branch} -- {file}))
git -C {source} show "${{commits[{back}]}}:"{file} > {target}
"""


class RestoreFile(Operation):
    """repository → table."""

    id = "restore_file"
    title = "restored file"
    takes = Repository
    gives = Table
    skills = ("domain/git", "artifact/git-repository", "artifact/csv", "operation/git-restore")
    stems = ("restored", "recovered", "rescued")
    slips = ("first_version", "current")
    said = (
        "The file `{file}` was deleted on the branch `main` of the Git repository {source}: write the last version "
        "that it had there to {target}.",
        "Somebody deleted the file `{file}` in the Git repository {source}; make {target} a copy of its last "
        "version on the branch `main`.",
        "Recover the file `{file}`, which is gone from the branch `main` of the Git repository {source}, and put its "
        "content as of the last commit that still had it into {target}.",
    )
    knobs = (
        Knob(
            "branch",
            "constraint/branches",
            (
                "It is the history of the branch `{branch}` that counts, and not that of `main`.",
                "Look at the branch `{branch}` for this instead of at `main`.",
                "Take what was on the branch `{branch}`, however, and not on `main`.",
            ),
            ambient=False,
        ),
        Knob(
            "author",
            "constraint/several-authors",
            (
                "Only versions that `{author}` committed count.",
                "Ignore every version whose author is not `{author}`.",
                "Consider nothing but the versions written by `{author}`.",
            ),
            ambient=False,
        ),
        Knob(
            "before_last",
            "constraint/earlier-versions",
            (
                "Do not take the last of these versions but the one before it.",
                "The last version is broken, so use the one that came before.",
                "We want the last but one of these versions, as the last one is wrong.",
            ),
            slips=("two_back",),
            ambient=False,
        ),
    )

    def draw(self, dice: Dice, value: Repository, knobs: Knobs) -> Params | None:
        """An author with enough versions."""
        other = value.branches()[1]
        path = next(commit.path for commit in value.commits if isinstance(commit.content, Table))
        authors = sorted({commit.author for commit in value.commits if isinstance(commit.content, Table)})
        params = {"file": path, "branch": other, "author": dice.pick(authors)}
        every = self._versions(value, params, knobs - {"author"})
        changed = all(a.rows != b.rows for a, b in pairwise(every))
        return params if changed and len(self._versions(value, params, knobs)) > 1 + ("before_last" in knobs) else None

    def apply(self, value: Repository, params: Params, knobs: Knobs, slip: str = "") -> Table:
        """One of the versions; none at all where there is no such file."""
        versions = self._versions(value, params, knobs)
        back = 1 if "before_last" in knobs else 0
        back = 2 if slip == "before_last:two_back" else back
        if slip == "current" or back >= len(versions):
            return Table((), (), (), header=False)
        return versions[0] if slip == "first_version" else versions[-1 - back]

    def _versions(self, value: Repository, params: Params, knobs: Knobs) -> list[Table]:
        commits = value.history(params["branch"] if "branch" in knobs else MAIN)
        counted = [c for c in commits if "author" not in knobs or c.author == params["author"]]
        return [commit.content for commit in counted if isinstance(commit.content, Table)]

    def slots(self, params: Params) -> Mapping[str, str]:
        """File, branch, author."""
        return {name: str(text) for name, text in params.items()}

    def solve(self, params: Params, knobs: Knobs, paths: Paths) -> str:
        """Find the commit, show the file."""
        choice = f"-F --author={shlex.quote(params['author'] + ' <')} " if "author" in knobs else ""
        return SOLUTION.format(
            source=paths.source,
            target=paths.target,
            choice=choice,
            back=1 if "before_last" in knobs else 0,
            branch=params["branch"] if "branch" in knobs else MAIN,
            file=shlex.quote(params["file"]),
        )


OPERATION = RestoreFile()
