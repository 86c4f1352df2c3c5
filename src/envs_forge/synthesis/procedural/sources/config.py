"""Configuration files.

Features: `twice` (keys that occur twice in a section), `case` (keys in several capitalisations).
"""

from __future__ import annotations

from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.synthesis.procedural.scenario import Vocabulary
from envs_forge.synthesis.procedural.values.config import Config

KEYS = ("timeout", "retries", "level", "port", "mode", "limit", "cache", "workers")
WORDS = ("on", "off", "auto", "strict", "fast", "safe")


def make(dice: Dice, vocabulary: Vocabulary, count: int, features: frozenset[str]) -> Config:
    """About `count` settings in three sections, which have most of their keys in common."""
    lines: list[str] = []
    for section in dice.sample(vocabulary.words, 3):
        keys = dice.sample(KEYS, min(len(KEYS), max(4, count // 3)))
        if "twice" in features:
            keys = dice.shuffled([*keys, *dice.sample(keys, 2)])
        lines.append(f"[{section}]")
        for key in keys:
            if dice.chance(0.3):
                lines.append(f"# {dice.pick(vocabulary.words)}: ask before you change this")
            shown = dice.pick((key.upper(), key.capitalize())) if "case" in features and dice.chance(0.4) else key
            lines.append(f"{shown} = {value(dice)}")
    return Config(tuple(lines))


def value(dice: Dice) -> str:
    """A number or a word."""
    return dice.pick(WORDS) if dice.chance(0.3) else str(dice.between(2, 900))
