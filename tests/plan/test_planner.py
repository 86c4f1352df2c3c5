from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from envs_forge.errors import InvariantError, UserError
from envs_forge.plan import planner
from envs_forge.plan.model import CandidateSkills, Choice, Forbidden, Plan, SeedInput
from envs_forge.plan.planner import make_plan
from envs_forge.plan.problem import Problem, Solution
from envs_forge.plan.settings import PlanSettings, Scoring, Solver

from .pools import NAMES, everywhere, plug_in, pool, seed

DEEP = "diversify/in_depth"
PUBLISHED = [
    ("often", 747, 1000, "increase/in_depth", 0.497, 0.9999),
    ("always", 8, 8, "increase/in_depth", 0.75, 0.4578),
    ("never", 0, 8, "reduce/in_depth", 0.25, 0.4578),
    ("near", 8, 15, "diversify", 8 / 15, 0.9862),
]


def picks(plan: Plan) -> list[tuple[str, str]]:
    return sorted((choice.seed_id, str(choice.action)) for choice in plan.choices)


def at(id_: str, rate: float, *required: str, optional: tuple[str, ...] = ()) -> SeedInput:
    """A seed with this rate and one candidate, at similar difficulty, with these skills."""
    return seed(id_, 1000 * rate, 1000, {DEEP: CandidateSkills(required=required, optional=optional)})


def test_the_published_cases() -> None:
    plan = make_plan([seed(id_, k, n) for id_, k, n, *_ in PUBLISHED], plug_in(size=4))
    found = {choice.seed_id: choice for choice in plan.choices}
    for id_, _, _, action, predicted, score in PUBLISHED:
        assert str(found[id_].action).startswith(action)
        assert found[id_].predicted == pytest.approx(predicted)
        assert found[id_].frontier_score == pytest.approx(score, abs=5e-5)
    assert plan.scoring == "plug-in"
    assert plan.absolute_gap == pytest.approx(0, abs=1e-9)


def test_expected_scores_are_the_default_and_prefer_what_is_known_better() -> None:
    assert PlanSettings().scoring is Scoring.POSTERIOR
    plan = make_plan([seed("few", 1, 2), seed("many", 50, 100)], PlanSettings(size=1))
    assert (plan.choices[0].seed_id, plan.scoring) == ("many", "posterior")


@pytest.mark.parametrize("scoring", list(Scoring))
def test_without_quotas_all_solvers_are_each_seeds_best_and_the_top_n(scoring: Scoring) -> None:
    seeds = pool(80, 6)
    plans = [make_plan(seeds, PlanSettings(size=25, solver=solver, scoring=scoring)) for solver in Solver]
    assert len({round(plan.objective, 9) for plan in plans}) == 1
    assert all(plan.absolute_gap == pytest.approx(0, abs=1e-7) for plan in plans)


def test_under_binding_quotas_the_optimiser_is_worth_most() -> None:
    gained = 0.0
    for number in range(6):
        seeds, quotas = pool(60, 10, number), {"s/00": 14, "s/03": 14, "s/05": 12}
        worth = {
            solver: make_plan(seeds, plug_in(size=20, solver=solver, quotas=quotas, penalty=1.0)).objective
            for solver in Solver
        }
        assert worth[Solver.MILP] >= worth[Solver.GREEDY] - 1e-9
        assert worth[Solver.MILP] > worth[Solver.ARGMAX]
        gained += worth[Solver.MILP] - worth[Solver.GREEDY]
    assert gained > 0


@pytest.mark.parametrize(("rate", "bought"), [(0.40, True), (0.36, True), (0.34, False), (0.25, False)])
def test_a_quota_is_bought_at_the_right_price_only(rate: float, bought: bool) -> None:
    seeds = [at("plain", 0.5), at("skilled", rate, "x")]
    loss = 1.0 - float(np.exp(-((rate - 0.5) ** 2) / 0.08))
    assert (loss < 0.25) == bought
    assert picks(make_plan(seeds, plug_in(size=1))) == [("plain", DEEP)]
    plan = make_plan(seeds, plug_in(size=1, quotas={"x": 1}))
    assert picks(plan) == [("skilled" if bought else "plain", DEEP)]
    assert plan.quotas[0].short == int(not bought)
    assert plan.objective == pytest.approx(1.0 - min(loss, 0.25))


def test_an_optional_skill_serves_as_well_as_a_required_one_but_for_its_cost() -> None:
    seeds = [at("plain", 0.5), at("offers", 0.45, optional=("x",)), at("requires", 0.45, "x")]
    plan = make_plan(seeds, plug_in(size=1, quotas={"x": 1}))
    assert picks(plan) == [("requires", DEEP)]
    plan = make_plan(seeds[:2], plug_in(size=1, quotas={"x": 1}))
    assert (picks(plan), plan.choices[0].optional) == ([("offers", DEEP)], ("x",))


def test_an_unreachable_quota_does_not_distort_the_plan() -> None:
    seeds = pool(60, 8)
    quotas = {"s/00": 6, "s/01": 6}
    plain = make_plan(seeds, plug_in(size=20, quotas=quotas))
    beyond = make_plan(seeds, plug_in(size=20, quotas={**quotas, "operation/join": 15}))
    assert beyond.score_sum == pytest.approx(plain.score_sum, abs=1e-9)
    assert beyond.objective == pytest.approx(plain.objective - 0.25 * 15)
    assert [quota for quota in beyond.quotas if quota.skill in quotas and quota.short] == []
    assert beyond.absolute_gap == pytest.approx(plain.absolute_gap, abs=1e-9)
    report = {quota.skill: quota for quota in beyond.quotas}["operation/join"]
    assert (report.asked, report.reachable, report.short) == (15, 0, 15)
    assert any("operation/join (15 asked, 0 reachable)" in note for note in beyond.notes)


def test_one_quota_that_is_only_partly_reachable_still_pays_for_what_can_be_had() -> None:
    seeds = [*(at(f"p{i}", 0.5) for i in range(5)), at("skilled", 0.45, "x")]
    plan = make_plan(seeds, plug_in(size=3, quotas={"x": 3}))
    assert "skilled" in {choice.seed_id for choice in plan.choices}
    assert (plan.quotas[0].reachable, plan.quotas[0].short) == (1, 2)


def test_a_slack_cap_forces_what_would_not_pay_or_says_what_lacks() -> None:
    seeds = [*(at(f"p{i}", 0.5) for i in range(5)), *(at(f"x{i}", 0.05, "x") for i in range(2))]
    free = make_plan(seeds, plug_in(size=3, quotas={"x": 2}))
    assert free.quotas[0].short == 2
    capped = make_plan(seeds, plug_in(size=3, quotas={"x": 2}, slack_cap=0.5))
    assert capped.quotas[0].short == 1
    whole = make_plan(seeds, plug_in(size=3, quotas={"x": 2}, slack_cap=0.2))
    assert whole.quotas[0].short == 0
    assert free.objective > capped.objective > whole.objective
    with pytest.raises(UserError, match=r"x \(short by 1 more than allowed\)"):
        make_plan(seeds, plug_in(size=3, quotas={"x": 3}, slack_cap=0.2))


def test_the_order_of_ten_thousand_seeds_does_not_matter() -> None:
    rng = np.random.default_rng(3)
    families = [
        {n: CandidateSkills(required=tuple(f"s/{s:02d}" for s in rng.choice(30, 2, replace=False))) for n in NAMES}
        for _ in range(120)
    ]
    seeds = [seed(f"seed-{i}", int(rng.integers(0, 9)), 8, families[int(rng.integers(0, 120))]) for i in range(10_000)]
    settings = plug_in(size=1000, quotas="uniform")
    plan = make_plan(seeds, settings)
    random.Random(5).shuffle(seeds)
    again = make_plan(seeds, settings)
    assert again.choices == plan.choices
    assert (again.objective, again.quotas) == (plan.objective, plan.quotas)
    assert plan.absolute_gap <= 1e-5 * plan.score_sum


def test_the_same_input_gives_the_same_plan_but_for_the_time() -> None:
    seeds, settings = pool(120, 8), PlanSettings(size=40, quotas="uniform")
    one, other = (make_plan(order, settings) for order in (seeds, seeds[::-1]))
    assert one.model_copy(update={"seconds": 0.0}) == other.model_copy(update={"seconds": 0.0})
    assert one.solver["name"] == "HiGHS"
    assert one.solver["version"]
    assert "random_seed" in one.solver["options"]


def test_names_do_not_decide_where_content_does() -> None:
    seeds = [seed(f"s{i}", 4, 8) for i in range(30)]
    renamed = [s.model_copy(update={"id": f"z{99 - i}"}) for i, s in enumerate(seeds)]
    hashes = [
        Counter(choice.action.projection for choice in make_plan(s, plug_in(size=10)).choices) for s in (seeds, renamed)
    ]
    assert hashes[0] == hashes[1] == Counter({"diversify": 10})


def test_capacity_is_one_unless_n_needs_more() -> None:
    seeds = [seed(f"s{i}", i % 9, 8) for i in range(10)]
    assert make_plan(seeds, plug_in(size=10)).capacity == 1
    plan = make_plan(seeds, plug_in(size=23))
    assert plan.capacity == 3
    assert max(Counter(choice.seed_id for choice in plan.choices).values()) <= 3
    assert any("exceeds the eligible seeds" in note for note in plan.notes)
    wide = make_plan(seeds, plug_in(size=10, capacity=4))
    assert max(Counter(choice.seed_id for choice in wide.choices).values()) == 4


def fixed(plan: Plan, count: int) -> list[Choice]:
    return [choice.model_copy(update={"fixed": True}) for choice in plan.choices[:count]]


def test_fixed_choices_stay_and_count() -> None:
    seeds, settings = pool(40, 6), plug_in(size=12, quotas={"s/00": 6, "s/01": 6})
    first = make_plan(seeds, settings)
    kept = fixed(first, 5)
    again = make_plan(seeds, settings, fixed=kept)
    assert list(again.choices[:5]) == kept
    assert (len(again.choices), again.capacity) == (12, 1)
    # Optional uses of fixed choices are paid for already.
    assert again.objective == pytest.approx(first.objective, abs=12 * settings.epsilon)
    assert len({choice.seed_id for choice in again.choices}) == 12


def test_what_was_accepted_satisfies_quotas_and_what_it_did_not_realise_does_not() -> None:
    seeds = [at("a", 0.5, optional=("x",)), at("b", 0.5), at("c", 0.4, "x")]
    settings = plug_in(size=2, quotas={"x": 1})
    first = make_plan(seeds, settings)
    assert picks(first) == [("a", DEEP), ("b", DEEP)]
    done = next(choice for choice in first.choices if choice.seed_id == "a")
    assert picks(make_plan(seeds, settings, fixed=[done])) == [("a", DEEP), ("b", DEEP)]
    missed = done.model_copy(update={"optional": ()})
    assert picks(make_plan(seeds, settings, fixed=[missed])) == [("a", DEEP), ("c", DEEP)]


def test_everything_fixed_leaves_nothing_to_decide() -> None:
    seeds, settings = pool(20, 4), plug_in(size=6, quotas={"s/00": 3})
    first = make_plan(seeds, settings)
    again = make_plan(seeds, settings, fixed=fixed(first, 6))
    assert picks(again) == picks(first)
    assert again.objective == pytest.approx(first.objective, abs=1e-5)


def test_forbidden_candidates_and_seeds_are_not_drawn() -> None:
    seeds, settings = pool(30, 6), plug_in(size=10)
    first = make_plan(seeds, settings)
    one, two = first.choices[:2]
    banned = [Forbidden(seed_id=one.seed_id, action=one.action), Forbidden(seed_id=two.seed_id)]
    again = make_plan(seeds, settings, forbidden=banned)
    assert (one.seed_id, str(one.action)) not in picks(again)
    assert two.seed_id not in {choice.seed_id for choice in again.choices}
    kept = make_plan(seeds, settings, fixed=[one.model_copy(update={"fixed": True})], forbidden=banned)
    assert kept.choices[0].seed_id == one.seed_id


def test_optional_skills_never_pay_where_they_cost_more_than_a_missing_use() -> None:
    seeds = [at("a", 0.5, optional=("x",))]
    plan = make_plan(seeds, plug_in(size=1, quotas={"x": 1}, epsilon=0.3, penalty=0.25))
    assert (plan.choices[0].optional, plan.quotas[0].short) == ((), 1)
    assert any("λ ≤ ε" in note for note in plan.notes)


def test_n_equal_to_the_number_of_seeds_takes_all_of_them() -> None:
    seeds = pool(25, 5)
    plan = make_plan(seeds, plug_in(size=25, quotas="uniform"))
    assert {choice.seed_id for choice in plan.choices} == {s.id for s in seeds}


def test_prices_are_what_another_unit_costs() -> None:
    seeds = [*(at(f"p{i}", 0.5) for i in range(5)), *(at(f"x{i}", 0.5 - 0.05 * (i + 1), "x") for i in range(3))]
    worth = [make_plan(seeds, plug_in(size=4, quotas={"x": q} if q else {})).objective for q in range(4)]
    plan = make_plan(seeds, plug_in(size=4, quotas={"x": 2}))
    costs = [earlier - later for earlier, later in pairwise(worth)]
    assert costs[1] - 1e-6 <= plan.quotas[0].price <= costs[2] + 1e-6


def test_skills_shared_by_all_candidates_buy_nothing() -> None:
    seeds = [seed(f"s{i}", i % 9, 8, everywhere(["x"])) for i in range(20)]
    plan = make_plan(seeds, plug_in(size=8, quotas={"x": 5}))
    assert plan.objective == pytest.approx(make_plan(seeds, plug_in(size=8)).objective, abs=1e-9)
    assert plan.quotas[0].price == 0.0


def test_a_quota_out_of_reach_changes_no_pick_and_no_proof() -> None:
    seeds, quotas = pool(200, 12), {"s/00": 25, "s/03": 25, "s/05": 20}
    plain = make_plan(seeds, plug_in(size=60, quotas=quotas))
    lost = make_plan(seeds, plug_in(size=60, quotas={**quotas, "tool/jq": 50, "domain/logs": 3}))
    assert picks(lost) == picks(plain)
    assert lost.objective == pytest.approx(plain.objective - 53 * 0.25)
    assert (lost.absolute_gap, lost.score_sum) == pytest.approx((plain.absolute_gap, plain.score_sum), abs=1e-9)
    assert any("tool/jq (50 asked, 0 reachable)" in note for note in lost.notes)


def test_a_quota_beyond_reach_is_as_good_as_one_at_it() -> None:
    seeds = [*pool(60, 6), *(at(f"x{i}", 0.45, "x") for i in range(3))]
    at_reach, beyond = (make_plan(seeds, plug_in(size=20, quotas={"x": asked})) for asked in (3, 500))
    assert picks(beyond) == picks(at_reach)
    assert beyond.quotas[0].reachable == 3
    assert beyond.absolute_gap == pytest.approx(at_reach.absolute_gap, abs=1e-9)


@pytest.mark.parametrize("wrong", ["objective", "chosen", "bound"])
def test_a_plan_that_fails_its_check_is_never_returned(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def solve(problem: Problem, *args: object, **more: object) -> Solution:
        found = honest(problem, *args, **more)  # type: ignore[arg-type]
        changed = {
            "objective": found.objective + 1e-3,
            "chosen": np.sort(np.append(found.chosen[1:], found.chosen[1])),
            "bound": found.objective - 1e-3,
        }
        return replace(found, **{wrong: changed[wrong]})

    honest = planner.solve
    monkeypatch.setattr(planner, "solve", solve)
    with pytest.raises(InvariantError, match="the plan fails its check"):
        make_plan(pool(30, 5), plug_in(size=10, quotas={"s/00": 4}))
