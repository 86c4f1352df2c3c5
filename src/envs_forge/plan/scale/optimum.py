"""All steps together: prices from samples, prices for all, the integer decision with its proof."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from envs_forge.plan.lagrange import View, look
from envs_forge.plan.problem import Floats, Problem
from envs_forge.plan.scale.core import by_prices
from envs_forge.plan.scale.descend import Descent, descend
from envs_forge.plan.scale.finish import Finish, finish
from envs_forge.plan.scale.sample import starting_prices

LARGE = 20_000
"""From this many groups on, a gap of a ten-millionth of the size is good enough; below it everything is proven."""


@dataclass(frozen=True)
class Optimum:
    """A plan of groups, the prices that prove it, and how it came about.

    `finish` is None when no plan keeps within the slack limits; `missing` (V,) then says what lacks, as far as is
    known.
    """

    finish: Finish | None
    view: View
    missing: Floats
    steps: int


def optimum(problem: Problem) -> Optimum:
    """Solve a problem of grouped seeds whose quotas were clipped to what can be reached."""
    tolerance = _tolerance(problem)
    found = best_prices(problem, tolerance / 2)
    if found.view.bound < _floor(problem):
        return Optimum(None, found.view, np.maximum(found.lent, 0.0), found.steps)
    decided = finish(problem, found.view, found.reference, tolerance=tolerance)
    return Optimum(decided, found.view, np.zeros(problem.quotas.size), found.steps)


def best_prices(problem: Problem, tolerance: float | None = None) -> Descent:
    """Prices with the lowest bound, and the linear program's solution where they are optimal."""
    none = np.zeros(problem.quotas.size)
    if not problem.quotas.any():
        view = look(problem, none)
        return Descent(view, by_prices(view), none, 0.0, 0)
    start = starting_prices(problem)
    if start.reference is not None:
        return Descent(look(problem, start.prices), start.reference, none, start.radius, 1)
    close = _tolerance(problem) / 2 if tolerance is None else tolerance
    return descend(problem, start.prices, radius=start.radius, tolerance=close, floor=_floor(problem))


def _tolerance(problem: Problem) -> float:
    return (1e-7 if problem.seeds >= LARGE else 1e-10) * problem.size


def _floor(problem: Problem) -> float:
    """No plan that keeps within its limits is worth less than this."""
    if problem.slack_limit is None:
        return -np.inf
    least = float(np.where(problem.allowed, problem.scores, np.inf).min(initial=0.0))
    return problem.size * least - (problem.epsilon + problem.penalty) * float(problem.quotas.sum()) - 1.0
