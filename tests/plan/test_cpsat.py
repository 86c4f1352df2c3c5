"""The optimiser against CP-SAT, on instances too large to enumerate, with every feature mixed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from envs_forge.plan.problem import Problem
from envs_forge.plan.scale import cases, descend, finish, optimum, sample, search
from envs_forge.plan.solve import SlackError, solve

from .instances import cp_sat, large, random_problem

PER_BLOCK = 30


def problems(block: int) -> list[Problem]:
    """Some with N near or at what the seeds allow."""
    made = []
    for number in range(10_000 + block * PER_BLOCK, 10_000 + (block + 1) * PER_BLOCK):
        problem = random_problem(number, most_seeds=14, most_skills=8, most_size=9)
        room = int(problem.capacity[problem.allowed.any(axis=1)].sum())
        if number % 5 == 0 and room:
            problem = replace(problem, size=max(1, room - number % 2))
        if problem.size:
            made.append(problem)
    return made


def compare(problem: Problem) -> float:
    """Compare, and return the truth."""
    truth = cp_sat(problem)
    try:
        found = solve(problem)
    except SlackError:
        assert truth == -np.inf
        return truth
    assert found.objective == pytest.approx(truth, abs=1e-8)
    assert truth - 1e-8 <= found.bound <= truth + 1e-7
    return truth


@pytest.mark.parametrize("block", range(8))
def test_the_optimum_is_that_of_cp_sat(block: int) -> None:
    truths = [compare(problem) for problem in problems(block)]
    assert sum(np.isfinite(truths)) > PER_BLOCK / 2


def all_of_the_way(monkeypatch: pytest.MonkeyPatch, *, opened: int, nodes: int) -> None:
    """Samples, cores and steps so small that small instances take all steps of the way for large ones."""
    monkeypatch.setattr(sample, "FIRST", 2)
    monkeypatch.setattr(sample, "LEAST_SIZE", 1)
    monkeypatch.setattr(descend, "CORE", 3)
    monkeypatch.setattr(descend, "CONTRADICTED", 3)
    monkeypatch.setattr(search, "FIRST", opened)
    monkeypatch.setattr(search, "GOOD_NODES", nodes)
    monkeypatch.setattr(cases, "FIRST", opened)
    monkeypatch.setattr(optimum, "LARGE", 10**9)


@pytest.mark.parametrize("block", range(8, 11))
def test_the_way_for_large_pools_gives_the_same(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    all_of_the_way(monkeypatch, opened=2, nodes=5)
    for problem in problems(block):
        compare(problem)


@pytest.mark.parametrize("by_cases", [True, False])
def test_penalties_that_a_few_draws_decide_are_proven(by_cases: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the linear relaxation is loose: with the proof by cases, and by opening more without it."""
    all_of_the_way(monkeypatch, opened=10, nodes=1)
    found: list[cases.Proof | None] = []

    def watched(state: search.Search) -> cases.Proof | None:
        found.append(cases.by_cases(state))
        return found[-1]

    for number in range(0, 40, 2):
        problem, rng = large(40, 15, 8, None, "steep", number), np.random.default_rng(number)
        if number % 3 == 0:
            problem = replace(problem, capacity=rng.integers(1, 3, problem.seeds))
        if number % 4 == 2:
            limits = np.where(rng.random(15) < 0.5, np.inf, np.maximum(3, problem.quotas // 1.3))
            problem = replace(problem, slack_limit=limits)
        with monkeypatch.context() as patch:
            patch.setattr(finish, "by_cases", watched if by_cases else lambda state: None)
            compare(problem)
    assert sum(proof is not None and proof.cases > 0 for proof in found) >= (3 if by_cases else 0)
