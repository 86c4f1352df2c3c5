"""Prices to start from: the linear program of a sample, improved on samples that grow eightfold.

Groups are in the order of their digests, so every eighth of them is as good as a random eighth, and the same whatever
the order of the files.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from envs_forge.plan.exact import compact
from envs_forge.plan.highs import solve
from envs_forge.plan.lagrange import clip_prices
from envs_forge.plan.problem import Floats, Ints, Problem
from envs_forge.plan.scale.core import Reference, solved
from envs_forge.plan.scale.descend import descend

FIRST = 4_000
"""Most groups in the sample whose linear program is solved outright."""

LEAST_SIZE = 1_000
"""A sample's share of the draws is not made smaller than this: a handful of draws says nothing about prices."""

_GROWTH = 8


@dataclass(frozen=True)
class Start:
    """Where to start.

    Attributes:
        prices: From the sample.
        radius: In which the best prices are likely to be.
        reference: When the sample was everything: the linear program's solution.
    """

    prices: Floats
    radius: float
    reference: Reference | None = None


def starting_prices(problem: Problem) -> Start:
    """Prices from samples."""
    step = 1
    while problem.seeds > FIRST * step:
        step *= _GROWTH
    start = _outright(thin(problem, step))
    while step > _GROWTH:
        step //= _GROWTH
        part = thin(problem, step)
        found = descend(part, start.prices, radius=start.radius, tolerance=1e-4 * part.size)
        start = Start(found.view.prices, found.radius)
    return start if step == 1 else replace(start, reference=None)


def thin(problem: Problem, step: int) -> Problem:
    """Every `step`-th seed, with the same share of draws, quotas and slack."""
    if step == 1:
        return problem
    seeds: Ints = np.arange(0, problem.seeds, step)
    rows = (seeds[:, None] * problem.actions + np.arange(problem.actions)).ravel()
    capacity = problem.capacity[seeds]
    share = capacity.sum() / problem.capacity.sum()
    size = min(max(round(problem.size * share), min(problem.size, LEAST_SIZE)), int(capacity.sum()))
    scale = size / problem.size
    return replace(
        problem,
        scores=problem.scores[seeds],
        allowed=problem.allowed[seeds],
        required=problem.required[rows],
        optional=problem.optional[rows],
        quotas=np.rint(problem.quotas * scale).astype(np.int64),
        size=size,
        capacity=capacity,
        slack_limit=None,
        keys=problem.keys[seeds],
    )


def _outright(problem: Problem) -> Start:
    """Prices of the whole linear program; none worth mentioning where it has no solution."""
    radius = 0.1 * problem.penalty + 1e-3
    program = compact(problem, integer=False)
    outcome = solve(program.program)
    if not outcome.feasible:
        return Start(np.zeros(problem.quotas.size), radius)
    prices = clip_prices(problem, program.prices(outcome, problem.quotas.size))
    return Start(prices, radius, solved(problem, program.candidates, outcome.x[: program.candidates.size]))
