"""Databases of one table each. Features are those of tables; those of the layout of a file change nothing."""

from __future__ import annotations

from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.synthesis.procedural.scenario import Vocabulary
from envs_forge.synthesis.procedural.sources import table
from envs_forge.synthesis.procedural.values.database import Database


def make(dice: Dice, vocabulary: Vocabulary, count: int, features: frozenset[str]) -> Database:
    """`count` rows with the columns of a table."""
    made = table.make(dice, vocabulary, count, features)
    return Database(dice.pick(vocabulary.stems), made.with_rows(made.rows))
