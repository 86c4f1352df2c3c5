from __future__ import annotations

import math

import pytest

from envs_forge.errors import UserError
from envs_forge.plan.inputs import tabulate
from envs_forge.plan.planner import make_plan
from envs_forge.plan.quotas import absolute_quotas, refuse_unknown, resolve_quotas, uniform_quotas

from .pools import everywhere, plug_in, pool, seed


def test_numbers_as_they_are_and_shares_rounded_up() -> None:
    assert absolute_quotas({"a": 3, "b": 0.25, "c": 0.01, "d": 0, "e": 0.3}, 10) == {"a": 3, "b": 3, "c": 1, "e": 3}
    assert absolute_quotas({"a": 1}, 10) == {"a": 1}
    assert absolute_quotas({"a": 0.1 * 3}, 10) == {"a": 3}  # 0.30000000000000004


@pytest.mark.parametrize("value", [-1, 1.5, math.nan, math.inf])
def test_quotas_that_make_no_sense(value: float) -> None:
    with pytest.raises(UserError, match="quotas that cannot be used: a = "):
        absolute_quotas({"a": value, "b": 1}, 10)


def test_uniform_spreads_the_mean_load_evenly() -> None:
    seeds = [seed("a", 1, 2, everywhere(["x", "y"])), seed("b", 1, 2, everywhere(["x", "z"], ["w"]))]
    settings = plug_in(size=9, quotas="uniform")
    tables = tabulate(seeds, settings)
    assert uniform_quotas(9, tables) == resolve_quotas(settings, tables) == {"x": 6, "y": 6, "z": 6}
    assert uniform_quotas(1, tables) == {"x": 1, "y": 1, "z": 1}


def test_uniform_without_skills_asks_for_nothing() -> None:
    plan = make_plan([seed("a", 1, 2)], plug_in(size=1, quotas="uniform"))
    assert plan.quotas == ()


def test_uniform_quotas_can_all_but_be_met_on_a_mixed_pool() -> None:
    plan = make_plan(pool(60, 6), plug_in(size=30, quotas="uniform"))
    assert {quota.asked for quota in plan.quotas} == {10}
    assert sum(quota.short for quota in plan.quotas) == 0


def test_skills_that_nobody_knows_are_slips_of_the_pen() -> None:
    seeds = [seed("a", 1, 2, everywhere(["mine/own"], ["mine/other"]))]
    refuse_unknown(["mine/own", "mine/other", "operation/join"], seeds)
    with pytest.raises(UserError) as caught:
        make_plan(seeds, plug_in(size=1, quotas={"operation/jion": 1, "mine/owm": 1, "qqq": 1}))
    assert caught.value.message == (
        "quotas of skills that are not known: "
        "mine/owm (did you mean mine/own?), operation/jion (did you mean operation/join?), qqq"
    )
