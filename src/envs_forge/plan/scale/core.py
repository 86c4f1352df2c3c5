"""The few candidates that matter at given prices; all other seeds keep what a reference plan gives them.

Each candidate has a *move*: what it costs per draw to change the reference by it. For a candidate that the reference
does not use this is its loss; for one that it uses, how far its seed is above the threshold, which is what leaving it
out costs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from envs_forge.plan.lagrange import View
from envs_forge.plan.problem import Floats, Ints, Problem

TINY = 1e-9
"""Below this a difference is the solver's rounding."""


@dataclass(frozen=True)
class Reference:
    """What each seed does as long as nothing says otherwise.

    Attributes:
        action: (S,) the candidate that is drawn.
        draws: (S,) how often.
        undecided: Candidates of the seeds for which that is not settled: a linear program divides their draws.
    """

    action: Ints
    draws: Ints
    undecided: Ints

    def chosen(self, actions: int) -> Ints:
        """All draws as candidates, ascending; a whole plan when nothing is undecided."""
        used = np.flatnonzero(self.draws)
        return np.repeat(used * actions + self.action[used], self.draws[used])


@dataclass(frozen=True)
class Core:
    """A part of the problem that is left open: what may be drawn, ascending, and the draws of all other seeds."""

    candidates: Ints
    fixed: Ints


def by_prices(view: View) -> Reference:
    """The plan that the prices alone would choose."""
    return Reference(view.action, view.draws, np.zeros(0, np.int64))


def solved(problem: Problem, candidates: Ints, x: Floats) -> Reference:
    """What a linear program over all candidates that matter made of every seed."""
    nothing = Reference(np.zeros(problem.seeds, np.int64), np.zeros(problem.seeds, np.int64), np.zeros(0, np.int64))
    return updated(nothing, problem, candidates, x)


def updated(reference: Reference, problem: Problem, candidates: Ints, x: Floats) -> Reference:
    """The reference with what a linear program over a core made of the core's seeds."""
    seeds = candidates // problem.actions
    total = np.bincount(seeds, x, minlength=problem.seeds)
    full = x >= problem.capacity[seeds] - TINY
    action, draws = reference.action.copy(), reference.draws.copy()
    draws[seeds] = 0
    action[seeds[full]] = candidates[full] % problem.actions
    draws[seeds[full]] = problem.capacity[seeds[full]]
    divided = (np.abs(total - draws) > TINY)[seeds] & (x > TINY)
    return Reference(action, draws, candidates[divided])


def moves(problem: Problem, view: View, reference: Reference) -> Floats:
    """(S, A) cost of changing the reference by each candidate; inf where a candidate is not allowed."""
    result = view.loss.copy()
    used = np.flatnonzero(reference.draws)
    result[used, reference.action[used]] = np.maximum(view.best[used] - view.threshold, 0.0)
    return result


def contradicted(problem: Problem, view: View, reference: Reference, most: int) -> Ints:
    """Best candidates of the seeds whose reference the prices contradict, at most so many, the clearest cases first."""
    rows = np.arange(problem.seeds)
    cost = np.where(reference.draws > 0, view.loss[rows, reference.action], view.best - view.threshold)
    wrong = np.flatnonzero(cost > TINY)
    if wrong.size > most:
        wrong = wrong[np.argpartition(-cost[wrong], most)[:most]]
    return wrong * problem.actions + view.action[wrong]


def cheapest(moves: Floats, count: int) -> Ints:
    """Candidates with the `count` cheapest moves, in no particular but repeatable order."""
    flat = moves.ravel()
    chosen = np.arange(flat.size) if count >= flat.size else np.argpartition(flat, count)[:count]
    return chosen[np.isfinite(flat[chosen])]


def cheapest_with(problem: Problem, moves: Floats, skill: int, count: int) -> Ints:
    """Candidates with the `count` cheapest moves among those that use or may use a skill."""
    has = np.zeros(moves.size, bool)
    for skills in (problem.required, problem.optional):
        for column in range(skills.shape[1]):
            has |= skills[:, column] == skill
    rows = np.flatnonzero(has & np.isfinite(moves.ravel()))
    if rows.size > count:
        rows = rows[np.argpartition(moves.ravel()[rows], count)[:count]]
    return rows


def within(moves: Floats, limit: float) -> Ints:
    """Candidates whose moves cost at most `limit`."""
    return np.flatnonzero(moves.ravel() <= limit)


def open_core(problem: Problem, reference: Reference, candidates: Ints) -> Core:
    """Open the seeds of some candidates: those, and what the reference draws of the same seeds."""
    is_open = np.zeros(problem.seeds, bool)
    is_open[candidates // problem.actions] = True
    is_open[reference.undecided // problem.actions] = True
    is_open[(reference.draws > 0) & (reference.draws < problem.capacity)] = True
    used = np.flatnonzero(reference.draws)
    drawn = used * problem.actions + reference.action[used]
    opened = is_open[used]
    return Core(
        candidates=np.unique(np.concatenate([candidates, reference.undecided, drawn[opened]])),
        fixed=np.repeat(drawn[~opened], reference.draws[used[~opened]]),
    )
