from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from envs_forge.plan.check import evaluate
from envs_forge.plan.heuristics import greedy
from envs_forge.plan.planner import make_plan
from envs_forge.plan.problem import NO_SKILL, Problem
from envs_forge.plan.ties import settle

from .instances import random_problem, shuffled
from .pools import CandidateSkills, plug_in, seed


def settled(problem: Problem) -> np.ndarray:
    return settle(problem, greedy(replace(problem, slack_limit=None)))


@pytest.mark.parametrize("number", range(60))
def test_settling_ties_never_costs_anything_and_is_stable(number: int) -> None:
    problem = replace(random_problem(number, most_seeds=12, most_size=8), slack_limit=None)
    before = greedy(problem)
    after = settle(problem, before)
    assert evaluate(problem, after) >= evaluate(problem, before) - 1e-9
    seeds_before, seeds_after = np.sort(before // 6), np.sort(after // 6)
    np.testing.assert_array_equal(seeds_before, seeds_after)
    np.testing.assert_allclose(np.sort(problem.scores.ravel()[before]), np.sort(problem.scores.ravel()[after]))


@pytest.mark.parametrize("number", range(30))
def test_the_order_of_rows_does_not_matter(number: int) -> None:
    problem = replace(random_problem(number, most_seeds=12, most_size=8), slack_limit=None)
    other, order = shuffled(problem, number)
    before = greedy(problem)
    place = np.argsort(order)
    moved = np.sort(place[before // 6] * 6 + before % 6)
    found = settle(other, moved)
    np.testing.assert_array_equal(np.sort(order[found // 6] * 6 + found % 6), settle(problem, before))


def two_ways(count: int) -> list[object]:
    """Seeds at one half whose directions of `diversify` require different skills."""
    skills = {
        "diversify/in_depth": CandidateSkills(required=("deep",)),
        "diversify/in_breadth": CandidateSkills(required=("broad",)),
    }
    return [seed(f"s{i}", 4, 8, skills) for i in range(count)]


def test_the_directions_of_diversify_are_settled_by_coverage() -> None:
    plan = make_plan(two_ways(10), plug_in(size=10))  # type: ignore[arg-type]
    counts = [sum(skill in choice.required for choice in plan.choices) for skill in ("deep", "broad")]
    assert counts == [5, 5]


def test_without_skills_they_are_settled_by_content_not_by_order() -> None:
    seeds = [seed(f"s{i}", 4, 8) for i in range(40)]
    plan = make_plan(seeds, plug_in(size=40))
    actions = {choice.seed_id: str(choice.action) for choice in plan.choices}
    assert set(actions.values()) == {"diversify/in_depth", "diversify/in_breadth"}
    again = make_plan(seeds[::-1], plug_in(size=40))
    assert {choice.seed_id: str(choice.action) for choice in again.choices} == actions
    renamed = [s.model_copy(update={"content_hash": s.content_hash[::-1]}) for s in seeds]
    other = make_plan(renamed, plug_in(size=40))
    assert {choice.seed_id: str(choice.action) for choice in other.choices} != actions


def test_quotas_come_before_coverage() -> None:
    plan = make_plan(two_ways(10), plug_in(size=10, quotas={"deep": 8}))  # type: ignore[arg-type]
    assert sum("deep" in choice.required for choice in plan.choices) == 8


def test_a_plan_without_ties_is_left_alone() -> None:
    scores = np.array([[0.1, 0.2, 0.3, 0.4, 0.5, 0.6]])
    none = np.full((6, 1), NO_SKILL, np.int32)
    problem = Problem(
        scores, np.ones((1, 6), bool), none, none, np.zeros(0, np.int64), 1, np.ones(1, np.int64), 1e-6, 0.25, None,
        np.array([7], np.uint64),
    )  # fmt: skip
    assert settled(problem).tolist() == [5]
