"""Reduce: fewer constraints, or fewer systems.

*In depth* the chain of skills stays and its constraints go, all but those that the plan counts on (where it has none, a
step that it has twice). *In breadth* a system goes: a step with its constraints, or a live service, which a fixture
replaces. Which steps go is the dice's choice, or follows from the tests that the policy failed (`blame.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from envs_forge.synthesis.procedural.chain import skills, weight
from envs_forge.synthesis.procedural.composition import Use
from envs_forge.synthesis.procedural.edits.moves import Edit, Uses, put, sound
from envs_forge.synthesis.procedural.operations import operations

MOST_KEPT = 3
"""Plans that count on more constraints than this get them all but one."""


def in_depth(uses: Uses) -> list[Edit]:
    """Every way of stripping knobs, best all of them; without knobs, of stripping a repeated step."""
    knobs = [(at, name) for at, use in enumerate(uses) for name in use.knobs]
    if not knobs:
        own = skills(uses)
        return [edit for edit in sound(_shorter(uses, 1), uses) if skills(edit.uses) == own]
    counts = [n for n in range(len(knobs), 0, -1) if n == 1 or len(knobs) - n <= MOST_KEPT]
    return sound((_stripped(uses, gone, len(knobs) - n) for n in counts for gone in combinations(knobs, n)), uses)


def in_breadth(uses: Uses) -> list[Edit]:
    """A service replaced by a fixture; without one, every way of stripping steps, best only one."""
    heavy = weight(uses)
    if fixtures := [edit for edit in sound(_fixtures(uses), uses) if weight(edit.uses) < heavy]:
        return fixtures
    return sound((edit for count in range(1, len(uses)) for edit in _shorter(uses, count, count)), uses)


def _stripped(uses: Uses, gone: tuple[tuple[int, str], ...], level: int = 0) -> Edit:
    """The chain without some knobs, each given by the place of its step and its id."""
    kept = tuple(
        Use(operation=use.operation, knobs=tuple(name for name in use.knobs if (at, name) not in gone))
        for at, use in enumerate(uses)
    )
    return Edit(kept, tuple(f"{name} of {uses[at].operation} stripped" for at, name in gone), level)


def _shorter(uses: Uses, count: int, level: int = 0) -> Iterator[Edit]:
    """The chain without `count` of its steps."""
    for gone in combinations(range(len(uses)), count):
        kept = tuple(use for at, use in enumerate(uses) if at not in gone)
        yield Edit(kept, tuple(f"{uses[at].operation} stripped" for at in gone), level, gone)


def _fixtures(uses: Uses) -> Iterator[Edit]:
    """A step that needs a service replaced by the one that reads a given file, with the knobs that both have."""
    for at, use in enumerate(uses):
        name = operations()[use.operation].fixture
        if name in operations():
            known = {knob.id for knob in operations()[name].knobs}
            new = Use(operation=name, knobs=tuple(knob for knob in use.knobs if knob in known))
            yield Edit(put(uses, at, new), (f"service of {use.operation} replaced by a fixture for {name}",))
