"""The integer decision and its proof.

A candidate whose move costs more than the gap between the bound and a known plan can be in no better plan. So: decide
among a few candidates with the cheapest moves, take the gap that is left, open more of those within it, decide again.
When all within the gap were open, the integer program's own bound holds for the whole problem. The start is small
because where very many candidates tie a few of them often make a plan that needs no further proof.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from envs_forge.plan.check import closed_form, evaluate
from envs_forge.plan.exact import compact
from envs_forge.plan.highs import solve
from envs_forge.plan.lagrange import View
from envs_forge.plan.problem import Floats, Ints, Problem
from envs_forge.plan.scale.core import Core, Reference, cheapest, moves, open_core

FIRST = 300
"""Candidates opened first, beside those that the linear program left undecided."""

MOST = 40_000
"""Most candidates ever opened."""

GROWTH = 4
"""By how much the open part grows while plans get better."""

STALLED = 4_000
"""From so many open candidates on, a search that finds no better plan than the one before is the last."""

GOOD_NODES = 200
"""Most nodes of a search that only has to find a good plan."""

PROOF_NODES = 4_000
"""Most nodes of a search that has to prove. Fewer where many candidates are open, see `_nodes`."""

_SLOP = 1e-9


@dataclass(frozen=True)
class Finish:
    """The best plan found, its value and what no plan can exceed."""

    chosen: Ints
    objective: float
    bound: float
    opened: int

    @property
    def gap(self) -> float:
        """How much better than this plan another could be at most."""
        return self.bound - self.objective


def finish(problem: Problem, view: View, reference: Reference, *, tolerance: float) -> Finish | None:
    """Decide in integers.

    Args:
        problem: Grouped seeds, quotas clipped.
        view: The problem at good prices.
        reference: The linear program's solution.
        tolerance: Absolute gap that is good enough.

    Returns:
        The plan, or None when no plan within the slack limits was found.
    """
    best = _settled(problem, view, reference)
    if best is not None and best.gap <= tolerance:
        return best
    cost = moves(problem, view, reference)
    ranked = _ranked(cost)
    count, proving = min(FIRST, ranked.size), False
    while True:
        core = open_core(problem, reference, cheapest(cost, count))
        nodes = _nodes(core.candidates.size) if proving else GOOD_NODES
        before = best
        best, proven = _decide(problem, view, core, best, tolerance, nodes)
        gap = np.inf if best is None else view.bound - best.objective
        needed = int(np.searchsorted(ranked, gap + _SLOP, side="right"))
        covered = count >= needed
        if covered and best is not None:
            best = replace(best, bound=min(best.bound, max(best.objective, proven)))
        if best is not None and best.gap <= tolerance:
            return best
        stalled = best is not None and best is before and count >= STALLED
        if (covered and proving) or count >= MOST or stalled or (best is None and covered):
            return best
        # When little more is needed, take the step to the proof at once.
        count = min(needed if needed <= 2 * GROWTH * count else GROWTH * count, MOST)
        proving = count >= needed


def _ranked(cost: Floats) -> Floats:
    """The cheapest moves in ascending order, one more than are ever opened."""
    flat = cost.ravel()
    if flat.size > MOST + 1:
        flat = np.partition(flat, MOST)[: MOST + 1]
    return np.sort(flat[np.isfinite(flat)])


def _nodes(candidates: int) -> int:
    """A node costs about the square of what is open; a plan must not take minutes to prove its last per mille."""
    return int(min(PROOF_NODES, max(GOOD_NODES, 2e9 / max(1, candidates) ** 2)))


def _decide(
    problem: Problem, view: View, core: Core, best: Finish | None, tolerance: float, nodes: int
) -> tuple[Finish | None, float]:
    """The better of `best` and the best plan in a core, and what no plan in that core can exceed."""
    program = compact(problem, core.candidates, fixed=core.fixed)
    start = None if best is None else program.start(problem, best.chosen)
    outcome = solve(program.program, absolute_gap=tolerance / 2, max_nodes=nodes, start=start, lean=best is not None)
    if not outcome.feasible:
        return best, -np.inf if outcome.optimal else np.inf
    bound = outcome.bound + program.fixed_value
    chosen = program.draws(outcome)
    value = worth(problem, chosen)
    if value is None or (best is not None and value <= best.objective):
        return best, bound
    return Finish(chosen, value, view.bound, core.candidates.size), bound


def _settled(problem: Problem, view: View, reference: Reference) -> Finish | None:
    """The reference as a plan, where nothing is undecided and no slack limit is broken."""
    if reference.undecided.size:
        return None
    chosen = reference.chosen(problem.actions)
    value = worth(problem, chosen) if chosen.size == problem.size else None
    return None if value is None else Finish(chosen, value, view.bound, 0)


def worth(problem: Problem, chosen: Ints) -> float | None:
    """Value of a choice, None where a quota is missed by more than its limit."""
    _, short = closed_form(problem, chosen)
    return None if np.any(short > problem.limits + _SLOP) else evaluate(problem, chosen)


def _costliest(cost: Floats, among: Ints | None) -> float:
    """The highest finite cost, among some candidates or all."""
    values = cost.ravel() if among is None else cost.ravel()[among]
    return float(values[np.isfinite(values)].max(initial=0.0))
