"""Scripts that work. Features are those of the table that a script reads; those of its layout change nothing."""

from __future__ import annotations

from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.synthesis.procedural.scenario import Vocabulary
from envs_forge.synthesis.procedural.sources import table
from envs_forge.synthesis.procedural.values.script import Script

TEXT = """\
#!/bin/bash
# Usage: SCRIPT LIMIT FILE
exec awk -F , -v limit="$1" 'NR == 1 || ${field} + 0 >= limit + 0' "$2"
"""


def make(dice: Dice, vocabulary: Vocabulary, count: int, features: frozenset[str]) -> Script:
    """A script, and about `count` rows for it."""
    made = table.make(dice, vocabulary, count, features)
    field = dice.pick((5, 6))
    return Script(TEXT.format(field=field), (), (), field, made.with_rows(made.rows))
