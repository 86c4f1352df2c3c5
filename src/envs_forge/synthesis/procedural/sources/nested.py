"""Records with objects in them. Features are those of tables; a blank label is one that its record does not have."""

from __future__ import annotations

from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.synthesis.procedural.scenario import Vocabulary
from envs_forge.synthesis.procedural.sources import table
from envs_forge.synthesis.procedural.values.nested import Nested


def make(dice: Dice, vocabulary: Vocabulary, count: int, features: frozenset[str]) -> Nested:
    """Half as many records again as were asked for, since most are not going to be selected."""
    made = table.make(dice, vocabulary, count + count // 2, features)
    return Nested(made.with_rows(made.rows))
