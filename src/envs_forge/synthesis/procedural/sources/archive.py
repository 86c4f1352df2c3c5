"""Archives of the trees in `tree.py`. Features are those of trees, and `top_folder` (one folder around all members)."""

from __future__ import annotations

from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.synthesis.procedural.scenario import Vocabulary
from envs_forge.synthesis.procedural.sources import tree
from envs_forge.synthesis.procedural.values.archive import Archive
from envs_forge.synthesis.procedural.values.tree import Tree


def make(dice: Dice, vocabulary: Vocabulary, count: int, features: frozenset[str]) -> Archive:
    """About `count` files."""
    made = tree.make(dice, vocabulary, count, features)
    if "top_folder" not in features:
        return Archive(made)
    folder = f"{dice.pick(vocabulary.stems)}-{dice.between(1, 9)}"
    return Archive(Tree({f"{folder}/{path}": file for path, file in made.entries.items()}))
