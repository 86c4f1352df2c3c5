"""Lines of a text file: a word and a number each, all different, the words all in lower case.

Features: `blank_lines` (lines without any text, never the first or last), `case` (words in several capitalisations).
"""

from __future__ import annotations

from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.synthesis.procedural.scenario import Vocabulary
from envs_forge.synthesis.procedural.values.lines import Lines

FEW = 5
"""So many different words: each occurs several times."""


def make(dice: Dice, vocabulary: Vocabulary, count: int, features: frozenset[str]) -> Lines:
    """About `count` lines."""
    words, numbers = dice.sample(vocabulary.words, FEW), dice.sample(range(10, 10_000), count)
    lines: list[str] = []
    for number in numbers:
        word = dice.pick(words)
        if "case" in features and dice.chance(0.4):
            word = dice.pick((word.upper(), word.capitalize()))
        if "blank_lines" in features and lines and dice.chance(0.25):
            lines.append("")
        lines.append(f"{word} {number}")
    return Lines(tuple(lines))
