"""Prices that are optimal for the linear relaxation, found by linear programs over small cores.

The bound UB(μ) is a convex function of the prices. In each step the linear program of a core is solved with the prices
kept in a box around the present ones: the box is a column a skill that lends uses at `μ + radius` and one that takes
them at `μ − radius`. Its value is a model of the bound within the box and never above it, so

    predicted = UB(μ) − model        says how much the step could gain, and 0 proves that μ is optimal,
    actual    = UB(μ) − UB(μ′)       decides whether the step is taken and how the radius changes.

After a step that failed, the candidates that the model had not seen are added to the next core.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from envs_forge.plan.exact import Compact, compact
from envs_forge.plan.highs import Outcome, Program, solve
from envs_forge.plan.lagrange import View, clip_prices, look
from envs_forge.plan.problem import Floats, Ints, Problem
from envs_forge.plan.scale.core import cheapest, moves, open_core

CORE = 10_000
"""Candidates in a core: enough for the model to be good, few enough for a linear program in well under a second."""

STEPS = 60
"""Most steps. Reached only when the prices circle at the solver's tolerance."""

_TINY = 1e-9
_NONE = np.zeros(0, np.int64)


@dataclass(frozen=True)
class Descent:
    """Where a descent ended.

    Attributes:
        view: The problem at the best prices found.
        support: Candidates by which the linear program's solution differs from the default plan at these prices.
        lent: (V,) uses that the box had to lend in the last step; 0 everywhere when the prices are optimal.
        radius: Last radius of the box.
        steps: Linear programs solved.
    """

    view: View
    support: Ints
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
    keep, lent, steps = _NONE, np.zeros(problem.quotas.size), 0
    for steps in range(1, STEPS + 1):
        core = open_core(problem, view, np.union1d(cheapest(moves(problem, view), CORE), keep))
        program = compact(problem, core.candidates, fixed=core.fixed, integer=False)
        outcome = solve(_boxed(program, problem, view.prices, radius))
        predicted = view.bound - outcome.objective - program.fixed_value
        lent = _lent(program, problem, view.prices, radius, outcome)
        if predicted <= tolerance and not lent.any():
            return Descent(view, _support(problem, view, program, outcome), lent, radius, steps)
        there = look(problem, clip_prices(problem, program.prices(outcome, problem.quotas.size)))
        actual = view.bound - there.bound
        if predicted <= tolerance:
            radius *= 4.0
            keep = _support(problem, view, program, outcome)
        elif actual > 0.1 * predicted:
            radius *= 2.0 if actual > 0.5 * predicted else 1.0
            view, keep = there, _support(problem, there, program, outcome)
        else:
            radius /= 4.0
            unseen = np.setdiff1d(_changes(problem, view, there), core.candidates)[: 2 * CORE]
            keep = np.union1d(_support(problem, view, program, outcome), unseen)
        if view.bound < floor:
            break
    return Descent(view, keep, lent, radius, steps)


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
    return np.where(np.abs(result) > _TINY, result, 0.0)


def _support(problem: Problem, view: View, program: Compact, outcome: Outcome) -> Ints:
    """Candidates of the core that the solution draws more or less often than the default plan of `view`."""
    seeds = program.candidates // problem.actions
    default = np.where(view.action[seeds] == program.candidates % problem.actions, view.draws[seeds], 0)
    return program.candidates[np.abs(outcome.x[: program.candidates.size] - default) > _TINY]


def _changes(problem: Problem, before: View, after: View) -> Ints:
    """Candidates of the seeds that the two default plans treat differently."""
    drawn = after.draws > 0
    changed = np.flatnonzero((before.draws != after.draws) | (drawn & (before.action != after.action)))
    action = np.where(drawn[changed], after.action[changed], before.action[changed])
    return changed * problem.actions + action
