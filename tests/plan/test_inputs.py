from __future__ import annotations

import math

import pytest

from envs_forge.errors import UserError
from envs_forge.plan.inputs import listing, tabulate, used_skills
from envs_forge.plan.model import ACTIONS, CandidateSkills, Choice, Forbidden, SeedInput
from envs_forge.plan.planner import make_plan
from envs_forge.plan.settings import PlanSettings
from envs_forge.plan.solve import ShortageError

from .pools import NAMES, everywhere, plug_in, pool, seed


def complaint(seeds: list[SeedInput], **more: object) -> str:
    settings = plug_in(**{"size": 1, **more.pop("settings", {})})  # type: ignore[dict-item]
    with pytest.raises(UserError) as caught:
        make_plan(seeds, settings, **more)  # type: ignore[arg-type]
    assert "\n" not in caught.value.message
    return caught.value.message


def fixed(of: SeedInput, **more: object) -> Choice:
    choice = Choice(
        seed_id=of.id, seed_hash=of.content_hash, action=ACTIONS[0], pass_rate=of.k / of.n, k=of.k, n=of.n,
        predicted=0.5, frontier_score=1.0, fixed=True,
    )  # fmt: skip
    return choice.model_copy(update=more)


@pytest.mark.parametrize(
    ("seeds", "said"),
    [
        ([], "there are no seeds to plan with"),
        ([seed("a", 1, 2), seed("a", 0, 2)], "more than one seed has the id a"),
        ([seed("a", 0, 0), seed("b", 1, 2), seed("c", 0, 0)], "no counted rollouts (n = 0) for a, c"),
        ([seed("a", math.nan, 2)], "the pass rate is not a number for a"),
        ([seed("a", math.inf, 2)], "the pass rate is not a number for a"),
        ([seed("a", 3, 2), seed("b", -1, 2)], "the pass rate is not in [0, 1] for a, b"),
        ([seed("a", 1, 2, {"increase": CandidateSkills()})], "unknown actions in `skills` of a: increase"),
        ([seed("a", 1, 2, None, {"shrink": "no"})], "unknown actions in `ineligible` of a: shrink"),
    ],
)
def test_seeds_that_make_no_sense_are_named(seeds: list[SeedInput], said: str) -> None:
    assert said in complaint(seeds)


def test_long_lists_are_cut() -> None:
    assert listing([f"s{i}" for i in range(8)]) == "s0, s1, s2, s3, s4 and 3 more"
    assert "and 15 more" in complaint([seed(f"s{i:02d}", math.nan, 2) for i in range(20)])


@pytest.mark.parametrize("size", [0, -3])
def test_a_plan_of_nothing(size: int) -> None:
    assert f"at least 1, not {size}" in complaint(pool(3, 4), settings={"size": size})


def test_more_than_the_eligible_allow() -> None:
    seeds = [seed("a", 1, 2), seed("b", 1, 2, {}), seed("c", 1, 2, None, dict.fromkeys(NAMES, "no"))]
    with pytest.raises(ShortageError) as caught:
        make_plan(seeds, PlanSettings(size=4, capacity=2))
    assert (caught.value.requested, caught.value.available) == (4, 2)
    assert "raise the capacity" in str(caught.value.fix)
    with pytest.raises(ShortageError) as caught:
        make_plan(seeds[1:], PlanSettings(size=1))
    assert "no seed has an eligible action" in str(caught.value.fix)


def test_contradictory_fixed_choices() -> None:
    a, b = seed("a", 1, 2), seed("b", 1, 2)
    strange = fixed(seed("z", 1, 2))
    assert "fixed choices of seeds that are not in the pool: z" in complaint([a, b], fixed=[strange])
    changed = fixed(a, seed_hash="other")
    assert "the content of seeds with fixed choices has changed: a" in complaint([a, b], fixed=[changed])
    assert "2 choices are fixed, more than the 1" in complaint([a, b], fixed=[fixed(a), fixed(b)])
    twice = {"fixed": [fixed(a), fixed(a)], "settings": {"size": 3, "capacity": 1}}
    assert "more fixed choices than the capacity of 1 allows for a" in complaint([a, b], **twice)


def test_forbidden_seeds_must_be_there() -> None:
    assert "forbidden seeds that are not in the pool: z" in complaint(pool(3, 4), forbidden=[Forbidden(seed_id="z")])


def test_rows_are_in_the_order_of_content() -> None:
    seeds = pool(12, 4)
    one, other = (tabulate(order, plug_in()) for order in (seeds, seeds[::-1]))
    assert one.seeds == other.seeds
    assert [s.content_hash for s in one.seeds] == sorted(s.content_hash for s in seeds)
    for name in ("scores", "allowed", "required", "optional", "keys"):
        assert (getattr(one, name) == getattr(other, name)).all(), name


def test_skills_are_distinct_and_none_is_both_required_and_optional() -> None:
    tables = tabulate([seed("a", 1, 2, everywhere(["x", "y", "x"], ["y", "z", "z"]))], plug_in())
    assert tables.skills == ("x", "y", "z")
    assert sorted(tables.required[0].tolist()) == [0, 1]
    assert [skill for skill in tables.optional[0].tolist() if skill >= 0] == [2]


def test_what_is_allowed() -> None:
    own = {name: CandidateSkills() for name in NAMES[:4]}
    seeds = [seed("a", 1, 2, own, {NAMES[0]: "no"}), seed("b", 1, 2)]
    tables = tabulate(seeds, plug_in(), forbidden=[Forbidden(seed_id="b", action=ACTIONS[5])])
    rows = {s.id: row.tolist() for s, row in zip(tables.seeds, tables.allowed, strict=True)}
    assert rows == {"a": [False, True, True, True, False, False], "b": [True] * 5 + [False]}
    whole = tabulate(seeds, plug_in(), forbidden=[Forbidden(seed_id="b")])
    assert not whole.allowed[[s.id for s in whole.seeds].index("b")].any()


def test_used_skills_count_each_choice_once() -> None:
    a = seed("a", 1, 2)
    choices = [fixed(a, required=("x", "y"), optional=("y", "z")), fixed(a, required=("x",))]
    assert used_skills(choices) == {"x": 2, "y": 1, "z": 1}
