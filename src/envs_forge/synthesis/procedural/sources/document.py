"""JSON documents: one object with settings, lists and objects within objects. There are no features."""

from __future__ import annotations

from typing import Any

from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.synthesis.procedural.scenario import Vocabulary
from envs_forge.synthesis.procedural.sources.config import KEYS, value
from envs_forge.synthesis.procedural.values.document import Document


def make(dice: Dice, vocabulary: Vocabulary, count: int, features: frozenset[str]) -> Document:
    """Three objects or more, each with an object and a list in it, two plain values and a list beside them."""
    names = dice.sample(vocabulary.words, min(6, 2 + count // 12))
    data: dict[str, Any] = {"edition": dice.between(2, 40), "owner": dice.pick(vocabulary.people)}
    for name in names:
        data[name] = {key: plain_value(dice) for key in dice.sample(KEYS, 3)}
        data[name]["limits"] = {key: dice.between(2, 900) for key in dice.sample(vocabulary.words, 2)}
        data[name]["tags"] = dice.sample(vocabulary.words, 2)
    data["contacts"] = dice.sample(vocabulary.people, 2)
    return Document(data)


def plain_value(dice: Dice) -> int | str:
    """A number or a word."""
    text = value(dice)
    return int(text) if text.isdigit() else text
