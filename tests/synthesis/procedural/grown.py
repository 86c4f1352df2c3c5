"""Compositions of many shapes, grown from single operations by the increasing actions."""

from __future__ import annotations

from collections.abc import Iterator

from envs_forge.plan.model import ACTIONS, Projection
from envs_forge.synthesis.procedural.actions import candidate_edits
from envs_forge.synthesis.procedural.composition import Composition, Use
from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.synthesis.procedural.operations import operations
from envs_forge.synthesis.procedural.scenario import scenario_ids

GROWTH = [action for action in ACTIONS if action.projection is Projection.INCREASE]


def grown(steps: int) -> Iterator[Composition]:
    """From every operation one composition after each of `steps` increases, of plain ones after at most one."""
    for number, (name, operation) in enumerate(operations().items()):
        uses: tuple[Use, ...] = (Use(operation=name),)
        dice = Dice("grown", name)
        for step in range(min(steps, 1 if operation.plain else steps) + 1):
            yield Composition(scenario=scenario_ids()[step % len(scenario_ids())], number=number, uses=uses)
            edits = [edit for action in GROWTH for edit in candidate_edits(uses, action)]
            if not edits:
                break
            uses = dice.pick(edits).uses
