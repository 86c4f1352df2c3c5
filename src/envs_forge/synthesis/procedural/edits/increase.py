"""Increase: one more constraint, or one more step."""

from __future__ import annotations

from collections import Counter

from envs_forge.synthesis.procedural.chain import skills
from envs_forge.synthesis.procedural.edits.moves import (
    Edit,
    Uses,
    added_knobs,
    added_operations,
    beside,
    operation_nodes,
    sound,
)
from envs_forge.synthesis.procedural.operations import operations

MOST_OFTEN = 2
"""How often one operation may occur: each time it narrows the data further, until nothing is left to decide."""


def in_depth(uses: Uses) -> list[Edit]:
    """A constraint on one of the steps, or one more step of the same skills."""
    own, often = skills(uses), Counter(use.operation for use in uses)
    again = [op for op in operations().values() if own.issuperset(op.skills) and often[op.id] < MOST_OFTEN]
    return sound([*added_knobs(uses), *added_operations(uses, again)], uses)


def in_breadth(uses: Uses) -> list[Edit]:
    """A step whose operation is adjacent to the chain's operations or domains."""
    near = beside(skills(uses))
    new = [operation for operation in operations().values() if near & operation_nodes(operation.skills)]
    return sound(added_operations(uses, new), uses)
