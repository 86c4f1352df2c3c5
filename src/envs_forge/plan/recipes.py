"""Recipes as masks over the six actions.

The fixed recipes of the literature are the same decision problem with fewer actions: few-shot stays beside the seed,
self-instruct moves to adjacent skills, evol-instruct only makes things harder. Only `forge` may also reduce.
"""

from __future__ import annotations

from collections.abc import Mapping

from envs_forge.plan.model import ACTIONS, Action, Direction, Projection
from envs_forge.plan.settings import Recipe

MASKS: Mapping[Recipe, tuple[Action, ...]] = {
    Recipe.FEW_SHOT: (Action(projection=Projection.DIVERSIFY, direction=Direction.IN_DEPTH),),
    Recipe.SELF_INSTRUCT: (Action(projection=Projection.DIVERSIFY, direction=Direction.IN_BREADTH),),
    Recipe.EVOL_INSTRUCT: tuple(Action(projection=Projection.INCREASE, direction=d) for d in Direction),
    Recipe.FORGE: ACTIONS,
}


def mask(recipe: Recipe) -> tuple[bool, ...]:
    """Which of `ACTIONS`, in their order, the recipe may use."""
    return tuple(action in MASKS[recipe] for action in ACTIONS)
