"""Repositories in whose history a table is kept. Features are those of tables; those of the layout change nothing."""

from __future__ import annotations

from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.synthesis.procedural.scenario import Vocabulary
from envs_forge.synthesis.procedural.sources import table
from envs_forge.synthesis.procedural.values.repository import MAIN, Commit, Repository
from envs_forge.synthesis.procedural.values.table import Table

COMMON, OWN = 2, 3
"""So many versions of the table before the branches part, and on each afterwards."""
BRANCHES = ("next", "hotfix", "trial", "archive")


def make(dice: Dice, vocabulary: Vocabulary, count: int, features: frozenset[str]) -> Repository:
    """A table of about `count` rows, changed several times on two branches and deleted on both."""
    made = table.make(dice, vocabulary, count, features)
    people = dice.sample(vocabulary.people, 2)
    path = f"{dice.pick(vocabulary.stems)}.csv"
    other = dice.pick(BRANCHES)
    plan = [(MAIN, "table")] * COMMON
    plan += dice.shuffled([(MAIN, "table")] * OWN + [(other, "table")] * OWN)
    plan += [(MAIN, "deletion"), (other, "deletion"), (other, "note"), (MAIN, "note")]
    commits: list[Commit] = []
    for number, (branch, what) in enumerate(plan, 1):
        author, subject = dice.pick(people), f"{dice.pick(vocabulary.words)} {dice.pick(vocabulary.words)} {number}"
        if what == "note":
            commits.append(Commit(branch, author, subject, "NOTES", f"{subject}\n"))
        else:
            content = _version(dice, made) if what == "table" else None
            commits.append(Commit(branch, author, subject, path, content))
    return Repository(tuple(commits), COMMON)


def _version(dice: Dice, made: Table) -> Table:
    """Most of the rows."""
    return made.with_rows([row for row in made.rows if dice.chance(0.85)])
