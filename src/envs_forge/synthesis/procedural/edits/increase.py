"""Increase: one more constraint, or one more step."""

from __future__ import annotations

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


def in_depth(uses: Uses) -> list[Edit]:
    """A constraint on one of the steps, or one more step of the same skills."""
    own = skills(uses)
    again = [operation for operation in operations().values() if own.issuperset(operation.skills)]
    return sound([*added_knobs(uses), *added_operations(uses, again)], uses)


def in_breadth(uses: Uses) -> list[Edit]:
    """A step whose operation is adjacent to the chain's operations or domains."""
    near = beside(skills(uses))
    new = [operation for operation in operations().values() if near & operation_nodes(operation.skills)]
    return sound(added_operations(uses, new), uses)
