"""Ties between actions of one seed, above all the two directions of `diversify`, which always score the same.

Settled by skill coverage (the action whose required skills the plan uses least so far), then by a stable hash of the
seed's content and the action; never by the order of files, and never at the cost of the objective.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from envs_forge.plan.problem import Ints, Problem, uses

TOLERANCE = 1e-12
"""Scores are rounded to 12 decimals before they come here, so a tie is exact up to the last of them."""

_FORBIDDEN = 1e6
_MASK = (1 << 64) - 1


def settle(problem: Problem, chosen: Ints) -> Ints:
    """The same plan with ties settled; ascending."""
    seeds = chosen // problem.actions
    own = problem.scores.ravel()[chosen]
    tied = (np.abs(problem.scores[seeds] - own[:, None]) <= TOLERANCE) & problem.allowed[seeds]
    places = np.flatnonzero(tied.sum(axis=1) > 1)
    places = places[np.argsort(problem.keys[seeds[places]], kind="stable")]
    if places.size == 0:
        return np.sort(chosen)
    place, action = np.nonzero(tied[places])
    options = seeds[places[place]] * problem.actions + action
    ends = np.cumsum(np.bincount(place))
    return np.sort(_settled(problem, chosen, places, options, ends))


def _settled(problem: Problem, chosen: Ints, places: Ints, options: Ints, ends: Ints) -> Ints:
    """Go through the tied draws one by one; those of `places[i]` are `options[ends[i − 1] : ends[i]]`."""
    result, plan = chosen.copy(), _Uses(problem, chosen)
    every = [
        _Option(candidate, tuple(s for s in required if s >= 0), tuple(s for s in optional if s >= 0))
        for candidate, required, optional in zip(
            options.tolist(), problem.required[options].tolist(), problem.optional[options].tolist(), strict=True
        )
    ]
    keys = problem.keys[chosen[places] // problem.actions].tolist()
    begin = 0
    for place, end, key in zip(places.tolist(), ends.tolist(), keys, strict=True):
        result[place] = plan.replace(int(chosen[place]), every[begin:end], key)
        begin = end
    return result


class _Option(NamedTuple):
    """One of the tied candidates of a seed."""

    candidate: int
    required: tuple[int, ...]
    optional: tuple[int, ...]


class _Uses:
    """Counts of a plan that is being changed one draw at a time."""

    def __init__(self, problem: Problem, chosen: Ints) -> None:
        self._actions = problem.actions
        self._epsilon, self._penalty, self._pays = problem.epsilon, problem.penalty, problem.optional_pays
        self._quota: list[int] = problem.quotas.tolist()
        self._limit: list[float] = problem.limits.tolist()
        self._required: list[int] = uses(problem.required[chosen], problem.quotas.size).tolist()
        self._offered: list[int] = uses(problem.optional[chosen], problem.quotas.size).tolist()

    def replace(self, current: int, options: list[_Option], key: int) -> int:
        """Exchange a draw for the best of its options and return that."""
        self._count(next(option for option in options if option.candidate == current), -1)
        costs = [self._cost(option) for option in options]
        level = min(costs) + TOLERANCE
        best = min(
            (option for option, cost in zip(options, costs, strict=True) if cost <= level),
            key=lambda option: (self._rarity(option), _shuffled(key, option.candidate % self._actions)),
        )
        self._count(best, 1)
        return best.candidate

    def _count(self, option: _Option, sign: int) -> None:
        for skill in option.required:
            self._required[skill] += sign
        for skill in option.optional:
            self._offered[skill] += sign

    def _cost(self, option: _Option) -> float:
        """What the quotas cost with this draw, against without it."""
        required, offered = self._required, self._offered
        cost = 0.0
        for skill in option.required:
            if required[skill] < self._quota[skill]:
                cost += self._of(skill, required[skill] + 1, offered[skill])
                cost -= self._of(skill, required[skill], offered[skill])
        for skill in option.optional:
            if required[skill] + offered[skill] < self._quota[skill]:
                cost += self._of(skill, required[skill], offered[skill] + 1)
                cost -= self._of(skill, required[skill], offered[skill])
        return cost

    def _of(self, skill: int, required: int, offered: int) -> float:
        """What one quota costs at these uses; beyond the slack limit more than any score is worth."""
        short = max(0, self._quota[skill] - required)
        wanted = short if self._pays else max(0.0, short - self._limit[skill])
        used = min(wanted, offered)
        beyond = max(0.0, short - used - self._limit[skill])
        return self._epsilon * used + self._penalty * (short - used) + _FORBIDDEN * beyond

    def _rarity(self, option: _Option) -> float:
        """Lower is better: minus what the required skills of the option add to an even coverage."""
        return -round(sum(1.0 / (1 + self._required[skill]) for skill in option.required), 9)


def _shuffled(key: int, action: int) -> int:
    mixed = (key ^ (action + 1) * 0x9E3779B97F4A7C15) & _MASK
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    return (mixed ^ mixed >> 27) * 0x94D049BB133111EB & _MASK
