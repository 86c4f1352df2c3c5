"""Given data for the head of a chain, made from a scenario's vocabulary. One file a type.

Each module has `make(dice, vocabulary, count, features)`, which gives a value that contains the features asked for
and none of the others.
"""

from __future__ import annotations

from importlib import import_module
from typing import Protocol, cast

from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.synthesis.procedural.scenario import Vocabulary
from envs_forge.synthesis.procedural.values.base import Value


class Source(Protocol):
    """Makes a value."""

    def make(self, dice: Dice, vocabulary: Vocabulary, count: int, features: frozenset[str]) -> Value:
        """A value of about `count` records."""
        ...


def source_of(kind: type[Value]) -> Source:
    """The source module of a type of value."""
    return cast(Source, import_module(f"{__name__}.{kind.source}"))
