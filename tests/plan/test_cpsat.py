"""The optimiser against CP-SAT, on instances too large to enumerate, with every feature mixed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from envs_forge.plan.problem import Problem
from envs_forge.plan.scale import descend, finish, optimum, sample
from envs_forge.plan.solve import SlackError, solve

from .instances import cp_sat, random_problem

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


@pytest.mark.parametrize("block", range(8, 11))
def test_the_way_for_large_pools_gives_the_same(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With samples, cores and steps so small that these instances take all of the way."""
    monkeypatch.setattr(sample, "FIRST", 2)
    monkeypatch.setattr(sample, "LEAST_SIZE", 1)
    monkeypatch.setattr(descend, "CORE", 3)
    monkeypatch.setattr(descend, "CONTRADICTED", 3)
    monkeypatch.setattr(finish, "FIRST", 2)
    monkeypatch.setattr(finish, "GOOD_NODES", 5)
    monkeypatch.setattr(optimum, "LARGE", 10**9)
    for problem in problems(block):
        compare(problem)
