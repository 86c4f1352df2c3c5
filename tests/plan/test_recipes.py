from __future__ import annotations

import pytest

from envs_forge.plan.model import ACTIONS
from envs_forge.plan.planner import make_plan
from envs_forge.plan.recipes import MASKS, mask
from envs_forge.plan.settings import Arm, Recipe

from .pools import plug_in, pool

WANTED = {
    Recipe.FEW_SHOT: {"diversify/in_depth"},
    Recipe.SELF_INSTRUCT: {"diversify/in_breadth"},
    Recipe.EVOL_INSTRUCT: {"increase/in_depth", "increase/in_breadth"},
    Recipe.FORGE: set(map(str, ACTIONS)),
}


@pytest.mark.parametrize("recipe", list(Recipe))
def test_masks_are_those_of_the_method(recipe: Recipe) -> None:
    assert set(map(str, MASKS[recipe])) == WANTED[recipe]
    assert {str(action) for action, open_ in zip(ACTIONS, mask(recipe), strict=True) if open_} == WANTED[recipe]


@pytest.mark.parametrize("arm", list(Arm))
@pytest.mark.parametrize("recipe", list(Recipe))
def test_plans_keep_to_their_mask_in_both_arms(recipe: Recipe, arm: Arm) -> None:
    plan = make_plan(pool(40, 6), plug_in(size=20, recipe=recipe, arm=arm))
    assert {str(choice.action) for choice in plan.choices} <= WANTED[recipe]
    assert (len(plan.choices), plan.recipe, plan.arm) == (20, recipe.value, arm.value)


def test_the_blind_arm_ignores_rates_and_quotas_but_not_its_seed() -> None:
    seeds = pool(40, 6)
    other = [seed.model_copy(update={"k": 8.0 - seed.k}) for seed in seeds]

    def picks(seeds: object, **more: object) -> list[tuple[str, str]]:
        plan = make_plan(seeds, plug_in(size=20, arm="blind", **more))  # type: ignore[arg-type]
        return sorted((choice.seed_id, str(choice.action)) for choice in plan.choices)

    first = picks(seeds, seed=1)
    assert first == picks(other, seed=1) == picks(seeds[::-1], seed=1) == picks(seeds, seed=1, quotas={"s/01": 9})
    assert first != picks(seeds, seed=2)


def test_masked_arms_are_worth_at_least_as_much_as_blind_ones_and_forge_most() -> None:
    seeds = pool(60, 6)
    worth = {recipe: make_plan(seeds, plug_in(size=20, recipe=recipe)).objective for recipe in Recipe}
    for recipe in Recipe:
        blind = make_plan(seeds, plug_in(size=20, recipe=recipe, arm="blind"))
        assert worth[recipe] >= blind.objective
        assert blind.bound >= blind.objective
    assert worth[Recipe.FORGE] == max(worth.values())
