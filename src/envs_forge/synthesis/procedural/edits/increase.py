"""Increase: further constraints, or one more step."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

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
    """Two further constraints, or one where only one fits, or one more step of the same skills."""
    own, often = skills(uses), Counter(use.operation for use in uses)
    again = [op for op in operations().values() if own.issuperset(op.skills) and often[op.id] < MOST_OFTEN]
    one = sound(added_knobs(uses), uses)
    two = sound((second.after(first) for first in one for second in added_knobs(first.uses)), uses)
    return [*two, *sound(added_operations(uses, again), uses), *(replace(edit, level=1) for edit in one)]


def in_breadth(uses: Uses) -> list[Edit]:
    """A step whose operation is adjacent to the chain's operations or domains."""
    near = beside(skills(uses))
    new = [operation for operation in operations().values() if near & operation_nodes(operation.skills)]
    return sound(added_operations(uses, new), uses)
