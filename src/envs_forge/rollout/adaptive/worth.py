"""What a bundle is worth to a plan, and what further rollouts are expected to add.

    b(k, n) = max over its actions of E[F(θ + shift)],  θ ~ Beta(k + ½, n − k + ½)

is what the planner sees in a bundle after rewards of k in n rollouts. With `other` the worth of whoever would take its
place (the N+1st where it is among the N best, else the Nth), m more rollouts are expected to add

    V_m = Σ_j P(j) · max(b(k + j, n + m), other) − max(b(k, n), other),  j ~ BetaBinomial(m, k + ½, n − k + ½)

to the plan. One rollout alone often cannot change anything where several can, so a bundle's prospect is the best
V_m / m over m up to `HORIZON`: the knowledge gradient with look-ahead.
"""

from __future__ import annotations

import math
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from envs_forge.plan.frontier import expected_regret, scores
from envs_forge.plan.settings import FrontierConfig, Scoring

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

HORIZON = 8
"""Most further rollouts that are looked ahead."""
_NOTHING = 1e-9


class Worth:
    """Scores of bundles that allow the same actions; every (k, n) is worked out once.

    Args:
        frontier: The model of what an action does to a pass rate.
        allowed: (6,) which actions there are; at least one.
    """

    def __init__(self, frontier: FrontierConfig, allowed: NDArray[np.bool_]) -> None:
        self._frontier = frontier
        self._allowed = np.asarray(allowed, dtype=bool)
        self._best: dict[tuple[float, float], float] = {}
        self._regret: dict[tuple[float, float], float] = {}

    def best(self, k: Array, n: Array) -> Array:
        """b(k, n) of each row, in the shape of `k`."""
        keys = list(zip(k.ravel().tolist(), n.ravel().tolist(), strict=True))
        fresh = np.array(sorted(set(keys) - self._best.keys()))
        if fresh.size:
            found = scores(fresh[:, 0], fresh[:, 1], self._frontier, Scoring.POSTERIOR)[:, self._allowed].max(axis=1)
            self._best.update(zip(map(tuple, fresh.tolist()), found.tolist(), strict=True))
        return np.array([self._best[key] for key in keys]).reshape(k.shape)

    def regret(self, k: Array, n: Array) -> Array:
        """Expected regret (S,) of each row's best action; actions that predict the same count as one."""
        keys = list(zip(k.tolist(), n.tolist(), strict=True))
        fresh = np.array(sorted(set(keys) - self._regret.keys()))
        if fresh.size:
            mask = np.tile(self._allowed, (len(fresh), 1))
            lost = expected_regret(fresh[:, 0], fresh[:, 1], self._frontier, mask)[:, self._allowed].min(axis=1)
            self._regret.update(zip(map(tuple, fresh.tolist()), lost.tolist(), strict=True))
        return np.array([self._regret[key] for key in keys])

    def prospects(self, k: Array, n: Array, other: Array, room: Ints) -> tuple[Array, Ints]:
        """What the best number of further rollouts adds for each of them, and that number.

        Args:
            k: (S,) sums of rewards.
            n: (S,) counted rollouts, at least 1.
            other: (S,) worth of whoever would take the place.
            room: (S,) most further rollouts.

        Returns:
            Gain a rollout (S,), 0 where there is none, and rollouts (S,).
        """
        rows = np.stack([k, n, other, room.astype(np.float64)], axis=1)
        distinct, member = np.unique(rows, axis=0, return_inverse=True)
        gain, number = self._distinct_prospects(*distinct.T)
        return gain[member.ravel()], number[member.ravel()]

    def _distinct_prospects(self, k: Array, n: Array, other: Array, room: Array) -> tuple[Array, Ints]:
        gain, number = np.zeros(k.size), np.ones(k.size, dtype=np.int64)
        now = np.maximum(self.best(k, n), other)
        for more in range(1, HORIZON + 1):
            rows = np.flatnonzero(room >= more)
            if not rows.size:
                break
            successes = np.arange(more + 1.0)
            later = self.best(k[rows, None] + successes, np.repeat(n[rows, None] + more, more + 1, axis=1))
            chances = _beta_binomial(k[rows], n[rows], more)
            added = (chances * np.maximum(later, other[rows, None])).sum(axis=1) - now[rows]
            better = added / more > gain[rows] * (1 + _NOTHING) + _NOTHING
            gain[rows[better]], number[rows[better]] = added[better] / more, more
        return gain, number


@cache
def worth_of(frontier: FrontierConfig, allowed: tuple[bool, ...]) -> Worth:
    """The one `Worth` of a model and a set of actions; what it has worked out serves every measurement."""
    return Worth(frontier, np.array(allowed))


def _beta_binomial(k: Array, n: Array, more: int) -> Array:
    """P(j successes in `more` rollouts) under the posterior, shape (rows, more + 1)."""
    return np.array([_chances(*row, more) for row in zip(k.tolist(), n.tolist(), strict=True)])


@lru_cache(maxsize=1 << 16)
def _chances(k: float, n: float, more: int) -> tuple[float, ...]:
    a, b = k + 0.5, n - k + 0.5
    base = math.lgamma(more + 1) - _log_beta(a, b)
    return tuple(
        math.exp(base - math.lgamma(j + 1) - math.lgamma(more - j + 1) + _log_beta(a + j, b + more - j))
        for j in range(more + 1)
    )


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
