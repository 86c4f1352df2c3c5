"""Pools too large to enumerate: proven gaps, any order of the files, skills that nobody asks for."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from envs_forge.plan.alike import counted, counts, settled
from envs_forge.plan.check import closed_form, evaluate
from envs_forge.plan.collapse import collapse
from envs_forge.plan.exact import compact
from envs_forge.plan.highs import solve as solve_program
from envs_forge.plan.lagrange import clip_prices, look
from envs_forge.plan.problem import Problem, Solution, reachable
from envs_forge.plan.scale import finish
from envs_forge.plan.scale.cases import by_cases
from envs_forge.plan.scale.descend import descend
from envs_forge.plan.scale.optimum import best_prices
from envs_forge.plan.scale.sample import thin
from envs_forge.plan.solve import SlackError, solve

from .instances import cp_sat, large, random_problem, shuffled


def proven(problem: Problem, share: float = 1e-6) -> Solution:
    """A solution whose gap is at most this share of ΣF, checked again."""
    found = solve(problem)
    assert found.objective == pytest.approx(evaluate(problem, found.chosen), abs=1e-9)
    assert found.absolute_gap <= share * problem.scores.ravel()[found.chosen].sum()
    return found


@pytest.mark.parametrize("constants", ["published", "steep"])
@pytest.mark.parametrize("families", [None, 300])
def test_three_thousand_seeds_and_two_hundred_skills_are_proven(constants: str, families: int | None) -> None:
    proven(large(3_000, 200, 300, families, constants))


def variant(kind: str) -> Problem:
    problem = large(2_000, 40, 200)
    seeds, rng = problem.seeds, np.random.default_rng(3)
    reach = np.minimum(problem.quotas, reachable(problem))
    # What no plan can miss by less than its share would make the limit the user's error.
    mild = np.where(reach < 0.3 * problem.size, reach, 0)
    return {
        "all seeds": lambda: replace(problem, size=seeds),
        "nearly all seeds": lambda: replace(problem, size=seeds - 3),
        "two draws of a seed": lambda: replace(problem, capacity=np.full(seeds, 2)),
        "more draws than seeds": lambda: replace(problem, capacity=np.full(seeds, 2), size=seeds + 50),
        "forbidden": lambda: replace(problem, allowed=rng.random(problem.allowed.shape) < 0.4),
        "slack": lambda: replace(problem, quotas=mild, slack_limit=np.floor(0.2 * mild)),
        "no slack": lambda: replace(problem, quotas=mild // 2, slack_limit=np.zeros(mild.size)),
    }[kind]()


@pytest.mark.parametrize(
    "kind",
    ["all seeds", "nearly all seeds", "two draws of a seed", "more draws than seeds", "forbidden", "slack", "no slack"],
)
def test_every_feature_is_proven(kind: str) -> None:
    proven(variant(kind))


def test_limits_that_cannot_be_kept_are_named_not_solved() -> None:
    problem = variant("slack")
    beyond = replace(problem, slack_limit=np.zeros(problem.quotas.size), quotas=np.full_like(problem.quotas, 60))
    with pytest.raises(SlackError) as caught:
        solve(beyond)
    assert caught.value.missing.sum() > 0


def test_any_order_of_ten_thousand_seeds_gives_the_same_picks() -> None:
    problem = large(10_000, 200, 1_000, 300)
    other, origin = shuffled(problem, 1)
    first, again = solve(problem), solve(other)
    back = np.sort(origin[again.chosen // 6] * 6 + again.chosen % 6)
    assert back.tolist() == first.chosen.tolist()


def test_a_skill_that_nobody_can_use_changes_no_pick() -> None:
    problem = large(2_000, 40, 200)
    named = np.random.default_rng(1).integers(0, 1 << 63, 41, dtype=np.uint64)
    without = solve(replace(problem, skill_keys=named[1:]))
    shift = [np.where(table >= 0, table + 1, table) for table in (problem.required, problem.optional)]
    wider = replace(
        problem, required=shift[0], optional=shift[1], quotas=np.append(50, problem.quotas), skill_keys=named
    )
    found = solve(wider)
    assert found.chosen.tolist() == without.chosen.tolist()
    assert found.objective == pytest.approx(without.objective - 50 * problem.penalty)
    assert found.absolute_gap == pytest.approx(without.absolute_gap, abs=1e-9)


def test_skills_without_a_quota_do_not_keep_seeds_apart() -> None:
    problem = large(2_000, 40, 200)
    one = np.where(np.arange(40) == 3, problem.quotas, 0)
    assert collapse(replace(problem, quotas=one)).problem.seeds < collapse(problem).problem.seeds
    assert collapse(replace(problem, quotas=0 * one)).problem.seeds <= 9


@pytest.mark.parametrize("number", range(40))
def test_any_prices_bound_what_any_plan_is_worth(number: int) -> None:
    problem = random_problem(number, most_seeds=8, most_size=5)
    truth, rng = cp_sat(problem) if problem.size else -np.inf, np.random.default_rng(number)
    for _ in range(5):
        prices = clip_prices(problem, rng.random(problem.quotas.size) * rng.choice([0.1, 1.0, 5.0]))
        if problem.size:
            assert look(problem, prices).bound >= truth - 1e-9


@pytest.mark.parametrize("number", range(30))
def test_any_prices_bound_the_plans_that_miss_so_much(number: int) -> None:
    """Every plan of a small problem lies under the bound of each range that holds what it misses."""
    problem = random_problem(number, most_seeds=5, most_size=3)
    problem = replace(problem, capacity=np.ones(problem.seeds, np.int64))
    usable = np.flatnonzero(problem.allowed.ravel())
    rng, seen = np.random.default_rng(number), 0
    for plan in combinations(usable.tolist(), problem.size):
        chosen = np.array(plan, np.int64)
        short = closed_form(problem, chosen)[1]
        if np.unique(chosen // 6).size < chosen.size or np.any(short > problem.limits) or seen > 300:
            continue
        seen += 1
        total = float(short.sum())
        for missing in ((total, total), (0.0, total), (total, np.inf), (max(total - 1, 0), total + 2)):
            ranged = replace(problem, missing=missing)
            prices = clip_prices(ranged, rng.random(problem.quotas.size) * rng.choice([0.1, 1.0, 5.0]))
            assert look(ranged, prices).bound >= evaluate(problem, chosen) - 1e-9


def test_a_small_plan_under_steep_penalties_is_proven_by_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    proofs = []
    monkeypatch.setattr(finish, "by_cases", lambda search: proofs.append(by_cases(search)) or proofs[-1])
    proven(large(3_000, 200, 100, 300, "steep"))
    assert [proof is not None and proof.cases > 0 for proof in proofs] == [True]


def test_the_descent_ends_at_the_linear_relaxation() -> None:
    problem = collapse(large(6_000, 60, 500)).problem
    exact = compact(problem, integer=False)
    value = solve_program(exact.program).objective
    found = descend(problem, np.zeros(60), radius=0.05, tolerance=1e-7 * problem.size)
    assert found.view.bound == pytest.approx(value, abs=1e-5)
    assert best_prices(problem).view.bound == pytest.approx(value, abs=1e-5)


def test_a_thinned_problem_keeps_its_proportions() -> None:
    problem = large(8_000, 30, 4_000)
    part = thin(problem, 8)
    assert (part.seeds, part.size) == (1_000, 1_000)
    assert abs(part.quotas - problem.quotas / 4).max() <= 0.5


@pytest.mark.parametrize("number", range(20))
def test_whole_counts_are_divided_into_whole_draws(number: int) -> None:
    """Whatever fractions a solver leaves, the corner that is taken is worth as much."""
    rng = np.random.default_rng(number)
    problem = replace(random_problem(number + 500, most_seeds=8, most_size=6), slack_limit=None)
    whole = compact(problem)
    if whole.kinds is None or problem.size == 0:
        return
    outcome = solve_program(whole.program)
    draws = whole.draws(outcome)
    again = whole.start(problem, draws)
    count = whole.candidates.size
    assert settled(whole.program, whole.kinds, again).sum() == problem.size
    np.testing.assert_allclose(
        counts(whole.kinds, whole.program.cost.size - (whole.kinds.place >= count).sum(), again[:count]),
        again[whole.program.cost.size - (whole.kinds.place >= count).sum() :],
    )
    blurred = again.copy()
    shared = whole.kinds.place[whole.kinds.member] >= count
    blurred[:count][shared] = rng.random(int(shared.sum()))
    found = settled(whole.program, whole.kinds, blurred)
    assert evaluate(problem, np.repeat(whole.candidates, found)) >= outcome.objective - 1e-7


def test_kinds_of_one_keep_their_own_column() -> None:
    problem = large(50, 200, 5)
    plain = compact(problem, integer=False).program
    program, kinds = counted(
        replace(plain, integer=np.arange(plain.cost.size) < 300), problem, compact(problem, integer=False).candidates
    )
    assert program.cost.size == plain.cost.size
    assert sorted(kinds.place.tolist()) == list(range(kinds.member.size))
