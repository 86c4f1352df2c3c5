"""The optimiser against the truth, on small random problems with every feature mixed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from envs_forge.plan.problem import Problem, Solution
from envs_forge.plan.settings import Solver
from envs_forge.plan.solve import ShortageError, SlackError, solve

from .instances import brute_force, random_problem, shuffled, value

PER_BLOCK = 25
TOLERANCE = 1e-9


def answer(problem: Problem, solver: Solver = Solver.MILP) -> Solution | None:
    try:
        return solve(problem, solver)
    except SlackError:
        return None


def problems(block: int) -> list[Problem]:
    numbers = range(block * PER_BLOCK, (block + 1) * PER_BLOCK)
    made = [random_problem(number, most_seeds=6, most_size=3) for number in numbers]
    return [problem for problem in made if problem.size]


@pytest.mark.parametrize("block", range(8))
def test_the_optimum_is_that_of_brute_force_and_the_bound_holds(block: int) -> None:
    for problem in problems(block):
        truth, found = brute_force(problem), answer(problem)
        if found is None:
            assert truth == -np.inf
            continue
        assert value(problem, tuple(found.chosen.tolist())) == pytest.approx(found.objective, abs=TOLERANCE)
        assert found.objective == pytest.approx(truth, abs=TOLERANCE)
        assert found.bound >= truth - TOLERANCE


@pytest.mark.parametrize("block", range(4))
def test_any_order_of_the_seeds_gives_the_same_choice(block: int) -> None:
    for number, problem in enumerate(problems(block)):
        found = answer(problem)
        if found is None:
            continue
        other, origin = shuffled(problem, number)
        again = solve(other)
        back = np.sort(origin[again.chosen // problem.actions] * problem.actions + again.chosen % problem.actions)
        assert back.tolist() == found.chosen.tolist()


@pytest.mark.parametrize("solver", [Solver.ARGMAX, Solver.GREEDY])
def test_an_ablation_is_never_better_and_its_bound_holds(solver: Solver) -> None:
    compared = 0
    for problem in problems(0):
        best, found = answer(problem), answer(problem, solver)
        if best is None or found is None or problem.slack_limit is not None:
            continue
        compared += 1
        assert found.objective <= best.objective + TOLERANCE
        assert found.bound >= best.objective - TOLERANCE
    assert compared > 5


def test_more_draws_than_there_are_is_said_with_the_numbers() -> None:
    problem = problems(0)[0]
    with pytest.raises(ShortageError) as caught:
        solve(replace(problem, size=int(problem.capacity.sum()) + 1))
    assert str(int(problem.capacity.sum()) + 1) in str(caught.value)
