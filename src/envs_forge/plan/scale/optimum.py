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
    tolerance = 1e-7 * problem.size if problem.seeds >= LARGE else 1e-10 * problem.size
    none = np.zeros(problem.quotas.size)
    if not problem.quotas.any():
        view = look(problem, none)
        return Optimum(finish(problem, view, by_prices(view), tolerance=tolerance), view, none, 0)
    start = starting_prices(problem)
    if start.reference is not None:
        view = look(problem, start.prices)
        return Optimum(finish(problem, view, start.reference, tolerance=tolerance), view, none, 1)
    found = descend(problem, start.prices, radius=start.radius, tolerance=tolerance / 2, floor=_floor(problem))
    if found.view.bound < _floor(problem):
        return Optimum(None, found.view, np.maximum(found.lent, 0.0), found.steps)
    return _finish(problem, found, tolerance)


def _finish(problem: Problem, found: Descent, tolerance: float) -> Optimum:
    decided = finish(problem, found.view, found.reference, tolerance=tolerance)
    return Optimum(decided, found.view, np.zeros(problem.quotas.size), found.steps)


def _floor(problem: Problem) -> float:
    """No plan that keeps within its limits is worth less than this."""
    if problem.slack_limit is None:
        return -np.inf
    least = float(np.where(problem.allowed, problem.scores, np.inf).min(initial=0.0))
    return problem.size * least - (problem.epsilon + problem.penalty) * float(problem.quotas.sum()) - 1.0
