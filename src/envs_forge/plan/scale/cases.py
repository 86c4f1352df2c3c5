"""A proof by cases: how many uses does a plan miss in all?

In a plan that is a whole number, in the linear relaxation a fraction. Where a few draws decide over many penalties, the
rest of that fraction times λ is most of the gap. So each number is a case (a disjunction, as in Balas, 1979): its own
row, its own prices, its own and far smaller gap. Numbers on either side whose relaxation is worth no more than a known
plan are ruled out together, because the relaxation's value is concave in the number.

Everything happens in the part of the problem that could be in a better plan at all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from envs_forge.plan.exact import compact
from envs_forge.plan.highs import solve
from envs_forge.plan.lagrange import View, clip_prices, look
from envs_forge.plan.problem import Bools, Floats, Ints, Problem
from envs_forge.plan.scale.core import Reference, open_core, solved, within
from envs_forge.plan.scale.search import MOST, SLOP, Plan, Search

MOST_CASES = 6
"""With more numbers to look into, the gap does not come from a fraction of one use."""

NODES = 12_000
"""Most nodes of all cases together; a limit on time would make plans depend on the machine's load."""

FIRST = 640
"""Candidates that the search of a case opens first."""


@dataclass(frozen=True)
class Proof:
    """The best plan, what no plan can exceed, and how many cases were searched."""

    plan: Plan
    bound: float
    cases: int


@dataclass(frozen=True)
class _Case:
    problem: Problem
    view: View
    reference: Reference


def by_cases(search: Search) -> Proof | None:
    """Close the gap of a search that has found a plan, case by case.

    Returns:
        The proof; None where it does not apply: no plan is known, too many candidates matter, too many cases.
    """
    if search.best is None or search.needed > MOST:
        return None
    candidates = _could_matter(search)
    if candidates.size > MOST:
        return None
    part, back = _part(search.problem, candidates)
    cases = _cases(part, search.best.objective + search.tolerance)
    if cases is None:
        return None
    best, bound, nodes, searched = search.best, search.best.objective, 0, 0
    for case in sorted(cases, key=lambda case: -case.view.bound):
        inner = Search(
            case.problem,
            case.view,
            case.reference,
            search.tolerance,
            known=best.objective,
            first=FIRST,
            good_nodes=NODES // 4,
        )
        searched += not inner.done
        while not inner.done and nodes + inner.nodes < NODES:
            inner.step()
        nodes += inner.nodes
        bound = max(bound, inner.bound)
        if inner.best is not None:
            best = Plan(back[inner.best.chosen], inner.best.objective, inner.best.opened)
    return Proof(best, min(search.bound, max(bound, best.objective)), searched)


def _could_matter(search: Search) -> Ints:
    """Candidates of plans better than the known one, ascending: those within the gap and what the reference draws."""
    assert search.best is not None
    gap = search.view.bound - search.best.objective + SLOP
    core = open_core(search.problem, search.reference, within(search.cost, gap))
    return np.union1d(core.candidates, core.fixed)


def _part(problem: Problem, candidates: Ints) -> tuple[Problem, Ints]:
    """The problem of some candidates alone, and which of the whole each of its candidates is."""
    actions = problem.actions
    seeds = np.unique(candidates // actions)
    back: Ints = (seeds[:, None] * actions + np.arange(actions)).ravel()
    allowed: Bools = np.isin(back, candidates).reshape(-1, actions)
    part = replace(
        problem,
        scores=problem.scores[seeds],
        allowed=allowed,
        required=problem.required[back],
        optional=problem.optional[back],
        capacity=problem.capacity[seeds],
        keys=problem.keys[seeds],
    )
    return part, back


def _cases(part: Problem, floor: float) -> list[_Case] | None:
    """All whole numbers of missing uses whose relaxation is worth more than `floor`, None when they are too many."""
    kept = np.flatnonzero(part.allowed.ravel())
    outcome = solve(compact(part, kept, integer=False).program)
    if not outcome.feasible:
        return None
    width = int((part.quotas > 0).sum())
    middle = float(outcome.x[kept.size + width : kept.size + 2 * width].sum())
    found: list[_Case] = []
    for first, step in ((int(np.floor(middle + SLOP)), -1), (int(np.floor(middle + SLOP)) + 1, 1)):
        number = first
        while number >= 0:
            beyond = (0.0, float(number)) if step < 0 else (float(number), np.inf)
            rest = _relaxed(part, kept, beyond)
            if rest is None or rest.view.bound <= floor:
                break
            case = _relaxed(part, kept, (float(number), float(number)))
            if case is not None and case.view.bound > floor:
                found.append(case)
            if len(found) > MOST_CASES:
                return None
            number += step
    return found


def _relaxed(part: Problem, kept: Ints, missing: tuple[float, float]) -> _Case | None:
    """A case with the prices and the solution of its linear relaxation; None where no plan belongs to it."""
    problem = replace(part, missing=missing)
    program = compact(problem, kept, integer=False)
    outcome = solve(program.program)
    if not outcome.feasible:
        return None
    prices: Floats = clip_prices(problem, program.prices(outcome, problem.quotas.size))
    return _Case(problem, look(problem, prices), solved(problem, kept, outcome.x[: kept.size]))
