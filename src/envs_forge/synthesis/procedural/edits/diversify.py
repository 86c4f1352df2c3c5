"""Diversify: another chain of the same weight."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

from envs_forge.synthesis.procedural.chain import fault_of, skills, weight
from envs_forge.synthesis.procedural.composition import Use
from envs_forge.synthesis.procedural.edits.moves import (
    Edit,
    Uses,
    beside,
    operation_nodes,
    put,
    sound,
    with_knob,
    without_knob,
)
from envs_forge.synthesis.procedural.operation import Operation
from envs_forge.synthesis.procedural.operations import operations


def in_depth(uses: Uses) -> list[Edit]:
    """The same skills: steps in another order, a constraint on another step, or else the chain as it is."""
    own, heavy = skills(uses), weight(uses)
    found = sound([*_orders(uses), *_moved_knobs(uses)], uses)
    return [e for e in found if skills(e.uses) == own and weight(e.uses) == heavy] + [Edit(uses, (), level=1)]


def in_breadth(uses: Uses) -> list[Edit]:
    """A step replaced by one of an adjacent operation, or a constraint by another one, at the same weight."""
    own, heavy = skills(uses), weight(uses)
    found = sound([*_swapped_operations(uses), *_swapped_knobs(uses)], uses)
    return [e for e in found if skills(e.uses) - own and weight(e.uses) == heavy]


def _orders(uses: Uses) -> Iterator[Edit]:
    """Two steps exchanged."""
    for a, b in permutations(range(len(uses)), 2):
        if a < b:
            other = [*uses]
            other[a], other[b] = other[b], other[a]
            yield Edit(tuple(other), (f"{uses[a].operation} and {uses[b].operation} exchanged",))


def _moved_knobs(uses: Uses) -> Iterator[Edit]:
    """A knob taken off and one of the same skill turned on elsewhere or in its place."""
    for a, use in enumerate(uses):
        for name in use.knobs:
            node = operations()[use.operation].knob(name).skill
            left = put(uses, a, without_knob(use, name))
            for b, other in enumerate(left):
                for knob in operations()[other.operation].knobs:
                    if knob.skill == node and knob.id not in uses[b].knobs:
                        text = f"{name} of {use.operation} exchanged for {knob.id} of {other.operation}"
                        yield Edit(put(left, b, with_knob(other, knob.id)), (text,))


def _swapped_knobs(uses: Uses) -> Iterator[Edit]:
    """A knob exchanged for one of another skill on the same step."""
    for at, use in enumerate(uses):
        operation = operations()[use.operation]
        for name in use.knobs:
            for knob in operation.knobs:
                if knob.id not in use.knobs and knob.skill != operation.knob(name).skill:
                    text = f"{name} of {use.operation} exchanged for {knob.id}"
                    yield Edit(put(uses, at, with_knob(without_knob(use, name), knob.id)), (text,), level=1)


def _swapped_operations(uses: Uses) -> Iterator[Edit]:
    """A step exchanged for one of an operation beside it, with as many knobs, the same ones where it has them."""
    for at, use in enumerate(uses):
        old = operations()[use.operation]
        near = beside(old.skills)
        for new in operations().values():
            if near & operation_nodes(new.skills):
                swapped = _with_knobs(uses, at, new, old.effort + len(use.knobs) - new.effort)
                yield Edit(swapped, (f"{old.id} exchanged for {new.id}",))


def _with_knobs(uses: Uses, at: int, new: Operation, count: int) -> Uses:
    """The chain with `new` at `at` under up to `count` knobs, those that the step had before all others."""
    old = operations()[uses[at].operation]
    nodes = {old.knob(name).skill for name in uses[at].knobs}
    ranked = sorted(new.knobs, key=lambda k: (k.id not in uses[at].knobs, k.skill not in nodes, k.id))
    use = Use(operation=new.id)
    for knob in ranked:
        if len(use.knobs) < count and not fault_of(put(uses, at, with_knob(use, knob.id))):
            use = with_knob(use, knob.id)
    return put(uses, at, use)
