"""Prices that are optimal for the linear relaxation, found by linear programs over small cores.

The bound UB(μ) is a convex function of the prices. In each step the linear program of a core is solved with the prices
kept in a box around the present ones: the box is a column a skill that lends uses at `μ + radius` and one that takes
them at `μ − radius`. Its value is a model of the bound within the box and never above it, so

    predicted = UB(μ) − model        says how much the step could gain, and 0 proves that μ is optimal,
    actual    = UB(μ) − UB(μ′)       decides whether the step is taken and how the radius changes.

Seeds outside the core keep what the last program gave them, so quotas stay in balance however many candidates tie, and
seeds for which the prices contradict that are opened next.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from envs_forge.plan.exact import Compact, compact
from envs_forge.plan.highs import Outcome, Program, solve
from envs_forge.plan.lagrange import View, clip_prices, look
from envs_forge.plan.problem import Floats, Ints, Problem
from envs_forge.plan.scale.core import (
    TINY,
    Reference,
    by_prices,
    cheapest,
    cheapest_with,
    contradicted,
    moves,
    open_core,
    updated,
)

CORE = 10_000
"""Candidates with the cheapest moves in a core: enough for a good model, few enough for a quick linear program."""

CONTRADICTED = 30_000
"""Most seeds opened because the prices contradict what they do."""

SKILLS = 12
"""Most skills for which a step opens more candidates because the box had to help out."""

STEPS = 60
"""Most steps. Reached only when the prices circle at the solver's tolerance."""


@dataclass(frozen=True)
class Descent:
    """Where a descent ended.

    Attributes:
        view: The problem at the best prices found.
        reference: The linear program's solution.
        lent: (V,) uses that the box lent in the last step; 0 everywhere when the prices are optimal.
        radius: Last radius of the box.
        steps: Linear programs solved.
    """

    view: View
    reference: Reference
    lent: Floats
    radius: float
    steps: int


def descend(problem: Problem, prices: Floats, *, radius: float, tolerance: float, floor: float = -np.inf) -> Descent:
    """Lower the bound until it cannot be lowered by more than `tolerance`.

    Args:
        problem: Grouped seeds, quotas clipped.
        prices: Where to start.
        radius: First radius of the box.
        tolerance: How close to the optimum is close enough.
        floor: Stop when the bound falls below this: no feasible plan is worth so little.
    """
    view = look(problem, clip_prices(problem, prices))
    reference, trial = by_prices(view), view
    lent, steps = np.zeros(problem.quotas.size), 0
    while steps < STEPS and view.bound >= floor:
        steps += 1
        core = open_core(problem, reference, _candidates(problem, view, trial, reference, lent))
        program = compact(problem, core.candidates, fixed=core.fixed, integer=False)
        outcome = solve(_boxed(program, problem, view.prices, radius))
        reference = updated(reference, problem, core.candidates, outcome.x[: core.candidates.size])
        predicted = view.bound - outcome.objective - program.fixed_value
        lent = _lent(program, problem, view.prices, radius, outcome)
        if predicted <= tolerance:
            if not lent.any():
                break
            radius *= 4.0
            continue
        trial = look(problem, clip_prices(problem, program.prices(outcome, problem.quotas.size)))
        actual = view.bound - trial.bound
        if actual > 0.1 * predicted:
            view = trial
            radius *= 2.0 if actual > 0.5 * predicted else 1.0
        else:
            radius /= 4.0
    return Descent(view, reference, lent, radius, steps)


def _candidates(problem: Problem, view: View, trial: View, reference: Reference, lent: Floats) -> Ints:
    """What to open: cheap moves, those for skills that the core could not serve, and what prices contradict."""
    cost = moves(problem, view, reference)
    parts = [cheapest(cost, CORE), contradicted(problem, view, reference, CONTRADICTED)]
    if trial is not view:
        parts.append(contradicted(problem, trial, reference, CONTRADICTED))
    for skill in np.argsort(-np.abs(lent), kind="stable")[:SKILLS]:
        if lent[skill] != 0:
            parts.append(cheapest_with(problem, cost, int(skill), 200 + 4 * int(np.ceil(abs(lent[skill])))))
    return np.unique(np.concatenate(parts))


def _boxed(program: Compact, problem: Problem, prices: Floats, radius: float) -> Program:
    """The program with columns that lend and take uses, so that its prices stay in the box."""
    inner, own = program.program, prices[program.skills]
    lend, take = _box(program, problem, prices, radius)
    extra = lend.size + take.size
    return replace(
        inner,
        cost=np.concatenate([inner.cost, -(own[lend] + radius), own[take] - radius]),
        upper=np.concatenate([inner.upper, np.full(extra, np.inf)]),
        rows=np.concatenate([inner.rows, program.quota_rows[lend], program.quota_rows[take]]),
        columns=np.concatenate([inner.columns, inner.cost.size + np.arange(extra)]),
        values=np.concatenate([inner.values, np.ones(lend.size), np.full(take.size, -1.0)]),
    )


def _box(program: Compact, problem: Problem, prices: Floats, radius: float) -> tuple[Ints, Ints]:
    """Which skills (places in `program.skills`) can lend and which can take without leaving the valid prices."""
    own = prices[program.skills]
    free = np.isfinite(problem.limits[program.skills]) | (own + radius < problem.penalty)
    return np.flatnonzero(free), np.flatnonzero(own > radius)


def _lent(program: Compact, problem: Problem, prices: Floats, radius: float, outcome: Outcome) -> Floats:
    """(V,) how much the box lent (positive) or took (negative)."""
    lend, take = _box(program, problem, prices, radius)
    extra = outcome.x[program.program.cost.size :]
    result = np.zeros(problem.quotas.size)
    result[program.skills[lend]] += extra[: lend.size]
    result[program.skills[take]] -= extra[lend.size :]
    return np.where(np.abs(result) > TINY, result, 0.0)
