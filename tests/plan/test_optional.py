from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from envs_forge.plan.check import closed_form
from envs_forge.plan.heuristics import greedy
from envs_forge.plan.optional import assign
from envs_forge.plan.planner import make_plan
from envs_forge.plan.settings import PlanSettings

from .instances import random_problem, shuffled
from .pools import everywhere, plug_in, pool, seed


@pytest.mark.parametrize("number", range(80))
def test_what_is_handed_out_is_what_the_plan_counts_on(number: int) -> None:
    problem = replace(random_problem(number, most_seeds=12, most_size=8), slack_limit=None)
    chosen = greedy(problem)
    duty = assign(problem, chosen)
    skills = problem.optional[chosen]
    assert not duty[skills < 0].any()
    handed = Counter(skills[duty].tolist())
    wanted, _ = closed_form(problem, chosen)
    assert handed == {skill: int(count) for skill, count in enumerate(wanted) if count}


@pytest.mark.parametrize("number", range(20))
def test_the_order_of_rows_does_not_matter(number: int) -> None:
    problem = replace(random_problem(number, most_seeds=12, most_size=8), slack_limit=None)
    other, order = shuffled(problem, number)
    chosen = greedy(problem)
    moved = np.sort(np.argsort(order)[chosen // 6] * 6 + chosen % 6)

    def duties(problem: object, chosen: np.ndarray, names: np.ndarray) -> list[tuple[int, list[int]]]:
        rows = assign(problem, chosen)  # type: ignore[arg-type]
        optional = problem.optional[chosen]  # type: ignore[attr-defined]
        return sorted(
            (int(names[j // 6] * 6 + j % 6), optional[i][rows[i]].tolist()) for i, j in enumerate(chosen.tolist())
        )

    assert duties(other, moved, order) == duties(problem, chosen, np.arange(problem.seeds))


def test_duties_are_spread() -> None:
    seeds = [seed(f"s{i}", 4, 8, everywhere((), ("x", "y"))) for i in range(6)]
    plan = make_plan(seeds, plug_in(size=6, quotas={"x": 3, "y": 3}))
    assert Counter(len(choice.optional) for choice in plan.choices) == {1: 6}


def test_only_as_much_as_the_quotas_need() -> None:
    seeds = [seed(f"s{i}", 4, 8, everywhere(("x",), ("y",))) for i in range(6)]
    plan = make_plan(seeds, plug_in(size=6, quotas={"x": 2, "y": 2}))
    report = {quota.skill: quota for quota in plan.quotas}
    assert (report["x"].required_uses, report["x"].optional_uses, report["x"].short) == (6, 0, 0)
    assert (report["y"].required_uses, report["y"].optional_uses, report["y"].short) == (0, 2, 0)
    assert plan.objective == pytest.approx(plan.score_sum - 2 * PlanSettings().epsilon, abs=1e-12)


def test_the_plan_names_them_and_they_add_up() -> None:
    plan = make_plan(pool(60, 8), plug_in(size=20, quotas="uniform"))
    counted = Counter(skill for choice in plan.choices for skill in choice.optional)
    assert {q.skill: q.optional_uses for q in plan.quotas if q.optional_uses} == counted
    for choice in plan.choices:
        assert not set(choice.optional) & set(choice.required)
