"""Records in JSON. Features are those of tables; of these, what concerns the layout of a table file changes nothing."""

from __future__ import annotations

from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.synthesis.procedural.scenario import Vocabulary
from envs_forge.synthesis.procedural.sources import table
from envs_forge.synthesis.procedural.values.records import Records


def make(dice: Dice, vocabulary: Vocabulary, count: int, features: frozenset[str]) -> Records:
    """`count` records with the columns of a table."""
    made = table.make(dice, vocabulary, count, features)
    return Records(made.with_rows(made.rows))
