"""Ties between actions of one seed, above all the two directions of `diversify`, which always score the same.

Settled by skill coverage (the action whose required skills the plan uses least so far), then by a stable hash of the
seed's content and the action; never by the order of files, and never at the cost of the objective.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from envs_forge.plan.problem import Ints, Problem, uses

TOLERANCE = 1e-12
"""Scores are rounded to 12 decimals before they come here, so a tie is exact up to the last of them."""

_MASK = (1 << 64) - 1


def settle(problem: Problem, chosen: Ints) -> Ints:
    """The same plan with ties settled; ascending."""
    plan = _Uses(problem, chosen)
    result = chosen.tolist()
    seeds = chosen // problem.actions
    own = problem.scores.ravel()[chosen]
    tied = (np.abs(problem.scores[seeds] - own[:, None]) <= TOLERANCE) & problem.allowed[seeds]
    places = np.flatnonzero(tied.sum(axis=1) > 1)
    for place in places[np.argsort(problem.keys[seeds[places]], kind="stable")].tolist():
        current = result[place]
        first = current - current % problem.actions
        options = [first + int(action) for action in np.flatnonzero(tied[place])]
        result[place] = plan.replace(current, options, int(problem.keys[seeds[place]]))
    return np.sort(np.array(result, dtype=np.int64))


class _Uses:
    """Counts of a plan that is being changed one draw at a time."""

    def __init__(self, problem: Problem, chosen: Ints) -> None:
        self._problem = problem
        self._quota: list[int] = problem.quotas.tolist()
        self._limit: list[float] = problem.limits.tolist()
        self._required: list[int] = uses(problem.required[chosen], problem.quotas.size).tolist()
        self._offered: list[int] = uses(problem.optional[chosen], problem.quotas.size).tolist()

    def replace(self, current: int, options: list[int], key: int) -> int:
        """Exchange a draw for the best of its options and return that."""
        touched = {skill for option in options for skill in (*self._of(option, 0), *self._of(option, 1))}
        self._count(current, -1)
        ranked = [
            (self._cost(option, touched), self._rarity(option), _shuffled(key, option % self._problem.actions), option)
            for option in options
        ]
        least = min(entry[0] for entry in ranked)
        best = min(entry[1:] for entry in ranked if entry[0] <= least + TOLERANCE)[2]
        self._count(best, 1)
        return best

    def _of(self, candidate: int, optional: int) -> list[int]:
        skills = (self._problem.required, self._problem.optional)[optional]
        return [skill for skill in skills[candidate].tolist() if skill >= 0]

    def _count(self, candidate: int, sign: int) -> None:
        for skill in self._of(candidate, 0):
            self._required[skill] += sign
        for skill in self._of(candidate, 1):
            self._offered[skill] += sign

    def _cost(self, option: int, touched: Iterable[int]) -> float:
        self._count(option, 1)
        cost = sum(self._cost_of(skill) for skill in touched)
        self._count(option, -1)
        return cost

    def _cost_of(self, skill: int) -> float:
        short = max(0, self._quota[skill] - self._required[skill])
        wanted = short if self._problem.optional_pays else max(0.0, short - self._limit[skill])
        used = min(wanted, self._offered[skill])
        if short - used > self._limit[skill]:
            return float("inf")
        return self._problem.epsilon * used + self._problem.penalty * (short - used)

    def _rarity(self, option: int) -> float:
        """Lower is better: minus what the required skills of the option add to an even coverage."""
        return -round(sum(1.0 / (1 + self._required[skill]) for skill in self._of(option, 0)), 9)


def _shuffled(key: int, action: int) -> int:
    mixed = (key ^ (action + 1) * 0x9E3779B97F4A7C15) & _MASK
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    return (mixed ^ mixed >> 27) * 0x94D049BB133111EB & _MASK
