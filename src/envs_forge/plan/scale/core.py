"""The few candidates that matter at given prices; everything else stays as the prices alone would have it.

Each candidate has a *move*: what it costs per draw to change the default plan by it. For a candidate that the default
plan does not use this is its loss; for one that it uses, how far it is above the threshold, which is what leaving it
out costs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from envs_forge.plan.lagrange import View
from envs_forge.plan.problem import Floats, Ints, Problem


@dataclass(frozen=True)
class Core:
    """A part of the problem that is left open.

    Attributes:
        candidates: What may be drawn, ascending.
        fixed: Default draws of all other seeds.
    """

    candidates: Ints
    fixed: Ints


def moves(problem: Problem, view: View) -> Floats:
    """(S, A) cost of changing the default plan by each candidate; inf where a candidate is not allowed."""
    result = view.loss.copy()
    result[np.arange(problem.seeds), view.action] = np.abs(view.best - view.threshold)
    return result


def cheapest(moves: Floats, count: int) -> Ints:
    """Candidates with the `count` cheapest moves, in no particular but repeatable order."""
    flat = moves.ravel()
    chosen = np.arange(flat.size) if count >= flat.size else np.argpartition(flat, count)[:count]
    return chosen[np.isfinite(flat[chosen])]


def within(moves: Floats, limit: float) -> Ints:
    """Candidates whose moves cost at most `limit`."""
    return np.flatnonzero(moves.ravel() <= limit)


def open_core(problem: Problem, view: View, candidates: Ints) -> Core:
    """Open the seeds of some candidates: those, and what the default plan draws of the same seeds."""
    partial = np.flatnonzero((view.draws > 0) & (view.draws < problem.capacity))
    is_open = np.zeros(problem.seeds, bool)
    is_open[candidates // problem.actions] = True
    is_open[partial] = True
    used = np.flatnonzero(view.draws > 0)
    default = used * problem.actions + view.action[used]
    opened = is_open[used]
    return Core(
        candidates=np.unique(np.concatenate([candidates, default[opened]])),
        fixed=np.repeat(default[~opened], view.draws[used[~opened]]),
    )
