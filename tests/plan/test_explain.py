from __future__ import annotations

import json
from collections import Counter

import pytest

from envs_forge.errors import UserError
from envs_forge.plan.explain import explain, explain_seed
from envs_forge.plan.explanation import SeedExplanation
from envs_forge.plan.model import ACTIONS, CandidateSkills, Forbidden
from envs_forge.plan.planner import make_plan
from envs_forge.plan.settings import PlanSettings

from .pools import NAMES, plug_in, pool, seed

DEEP = "diversify/in_depth"


def seeds_with(**own: CandidateSkills) -> dict[str, CandidateSkills]:
    return {name.replace("_in_", "/in_"): skills for name, skills in own.items()}


def test_everything_adds_up() -> None:
    seeds, settings = pool(50, 6), PlanSettings(size=20, quotas="uniform")
    plan = make_plan(seeds, settings)
    found = explain(plan, seeds, settings)
    assert sum(found.counts.values()) == sum(found.histogram) == sum(c.draws for c in found.chosen) == 20
    assert found.counts == Counter(str(choice.action) for choice in plan.choices)
    assert sum(found.seed_histogram) == 50
    assert {c.seed_id for c in found.chosen} | {s.seed_id for s in found.left_out} == {s.id for s in seeds}
    assert found.quotas == plan.quotas
    assert found.next_unit == plan.next_price
    mean = sum(c.regret * c.draws for c in found.chosen) / 20
    assert found.mean_regret == pytest.approx(mean)
    assert 0 < found.mean_mixed < 1
    json.dumps(found.model_dump(mode="json"), allow_nan=False)


def test_bars_include_both_ends() -> None:
    seeds = [seed("a", 0, 8, {DEEP: CandidateSkills()}), seed("b", 8, 8, {DEEP: CandidateSkills()})]
    settings = plug_in(size=2)
    assert explain(make_plan(seeds, settings), seeds, settings).histogram == (1, *[0] * 8, 1)


def test_the_nearest_of_those_left_out_comes_first() -> None:
    seeds = [*pool(30, 4), seed("none", 1, 2, {})]
    settings = plug_in(size=5)
    left_out = explain(make_plan(seeds, settings), seeds, settings).left_out
    values = [s.value for s in left_out]
    assert values[-1] is None
    known = [value for value in values if value is not None]
    assert known == sorted(known, reverse=True)
    assert left_out[-1].why == "no eligible action: no candidate"


def test_what_one_more_draw_would_add_is_the_first_that_did_not_enter() -> None:
    seeds = [seed(f"s{k}", k, 8, {DEEP: CandidateSkills()}) for k in range(5)]
    settings = plug_in(size=3)
    plan = make_plan(seeds, settings)
    worth = [make_plan(seeds, plug_in(size=n)).objective for n in (3, 4)]
    assert plan.next_price == pytest.approx(worth[1] - worth[0])
    assert plan.size_price == pytest.approx(min(c.frontier_score for c in plan.choices))
    assert make_plan(seeds, plug_in(size=5)).next_price is None


def why(seeds: list[object], seed_id: str, **more: object) -> SeedExplanation:
    forbidden = tuple(more.pop("forbidden", ()))  # type: ignore[call-overload]
    settings = plug_in(**more)
    plan = make_plan(seeds, settings, forbidden=forbidden)  # type: ignore[arg-type]
    return explain_seed(plan, seeds, settings, seed_id, forbidden=forbidden)  # type: ignore[arg-type]


def test_a_seed_has_six_candidates_with_reasons_for_those_that_cannot_be() -> None:
    own = {name: CandidateSkills() for name in NAMES if name != "reduce/in_breadth"}
    seeds = [seed("a", 1, 8, own, {"reduce/in_depth": "nothing left to reduce"}), seed("b", 4, 8)]
    found = why(seeds, "a", size=1, forbidden=[Forbidden(seed_id="a", action=ACTIONS[0])])
    assert [c.action for c in found.candidates] == list(NAMES)
    reasons = {c.action: c.reason for c in found.candidates if not c.eligible}
    assert reasons == {
        "increase/in_depth": "forbidden",
        "reduce/in_depth": "nothing left to reduce",
        "reduce/in_breadth": "no candidate",
    }
    assert (found.k, found.n, found.pass_rate) == (1, 8, 0.125)
    assert found.why.startswith("its best candidate diversify/in_")
    assert "the last place goes for 1.0000" in found.why


def test_the_recipe_is_a_reason() -> None:
    found = why([seed("a", 1, 8)], "a", size=1, recipe="few-shot")
    assert {c.reason for c in found.candidates if not c.eligible} == {"not an action of few-shot"}
    assert found.why == "its best action"


def test_a_seed_taken_for_its_skills_says_what_they_pay() -> None:
    skilled = seeds_with(diversify_in_depth=CandidateSkills(), increase_in_depth=CandidateSkills(required=("x",)))
    seeds = [seed("a", 500, 1000, skilled), seed("b", 400, 1000, skilled), seed("c", 600, 1000, skilled)]
    found = why(seeds, "c", size=2, quotas={"x": 1})
    chosen = next(c for c in found.candidates if c.draws)
    assert chosen.action == "increase/in_depth"
    assert chosen.prices.keys() == {"x"}
    assert chosen.value == pytest.approx(chosen.frontier_score + chosen.prices["x"])
    assert "towards quotas" in found.why


def test_optional_skills_are_paid_less_by_their_cost() -> None:
    own = seeds_with(diversify_in_depth=CandidateSkills(optional=("x",)))
    seeds = [seed("a", 500, 1000, seeds_with(diversify_in_depth=CandidateSkills())), seed("b", 420, 1000, own)]
    found = why(seeds, "b", size=1, quotas={"x": 1}, epsilon=0.01)
    chosen = next(c for c in found.candidates if c.draws)
    assert chosen.value == pytest.approx(chosen.frontier_score + chosen.prices["x"])
    assert 0 < chosen.prices["x"] <= 0.25 - 0.01


def test_ties_are_told() -> None:
    found = why([seed("a", 4, 8)], "a", size=1)
    assert "level with diversify/in_" in found.why
    regrets = {c.action: c.regret for c in found.candidates}
    assert regrets["diversify/in_depth"] == regrets["diversify/in_breadth"]


def test_the_blind_arm_has_no_reasons_but_luck() -> None:
    seeds = pool(10, 4)
    settings = plug_in(size=4, arm="blind")
    plan = make_plan(seeds, settings)
    drawn = {choice.seed_id for choice in plan.choices}
    for one in seeds:
        said = explain_seed(plan, seeds, settings, one.id).why
        assert said.startswith("the random order" + (" came to it" if one.id in drawn else " did not come to it"))


def test_a_seed_that_is_not_there() -> None:
    with pytest.raises(UserError, match="there is no seed z in the pool"):
        why([seed("a", 4, 8)], "z", size=1)
