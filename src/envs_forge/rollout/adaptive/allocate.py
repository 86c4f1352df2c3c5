"""The next batch of rollouts, from what is known of each bundle: pure, and the same whenever it is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from envs_forge.plan.model import ACTIONS
from envs_forge.rollout.adaptive.options import AdaptiveOptions
from envs_forge.rollout.adaptive.worth import Array, Ints, worth_of

EVERY_ACTION = (True,) * len(ACTIONS)
_NOBODY = -1.0
"""Worth of whoever takes the place where there is nobody else."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known of one bundle.

    Attributes:
        key: Breaks ties; the content hash.
        k: Sum of rewards.
        n: Rollouts that count.
        asked: Rollouts that were asked for, counted or not.
        allowed: Which of the six actions apply to it.
    """

    key: str
    k: float
    n: int
    asked: int
    allowed: tuple[bool, ...] = EVERY_ACTION


class Allocator:
    """Decides who gets further rollouts.

    Args:
        options: Budget, cap and what the plan is like.
    """

    def __init__(self, options: AdaptiveOptions) -> None:
        self._options = options

    def further(self, standings: Sequence[Standing]) -> list[int]:
        """How many more rollouts each bundle gets now; all 0 when measuring is over.

        A bundle without a counted rollout gets no more: whatever spoilt its first ones would spoil those too.
        """
        options = self._options
        result = [0] * len(standings)
        left = min(options.budget - sum(one.asked for one in standings), options.batch_of(len(standings)))
        rows = [row for row, one in enumerate(standings) if one.n and any(one.allowed)]
        if left <= 0 or not rows:
            return result
        gain, number = self._prospects([standings[row] for row in rows])
        for place in sorted(range(len(rows)), key=lambda place: (-gain[place], standings[rows[place]].key)):
            if gain[place] <= 0.0 or left <= 0:
                break
            result[rows[place]] = min(int(number[place]), left)
            left -= result[rows[place]]
        return result

    def _prospects(self, standings: Sequence[Standing]) -> tuple[Array, Ints]:
        k = np.array([one.k for one in standings])
        n = np.array([float(one.n) for one in standings])
        room = np.array([max(0, self._options.cap - one.asked) for one in standings], dtype=np.int64)
        groups = self._by_actions(standings)
        best = np.empty(k.size)
        for allowed, rows in groups.items():
            best[rows] = worth_of(self._options.frontier, allowed).best(k[rows], n[rows])
        other = self._others(best, [one.key for one in standings])
        gain, number = np.zeros(k.size), np.ones(k.size, dtype=np.int64)
        for allowed, rows in groups.items():
            worth = worth_of(self._options.frontier, allowed)
            gain[rows], number[rows] = worth.prospects(k[rows], n[rows], other[rows], room[rows])
            gain[rows] = np.where(worth.regret(k[rows], n[rows]) < self._options.delta, 0.0, gain[rows])
        return gain, number

    def _others(self, best: Array, keys: Sequence[str]) -> Array:
        """For those among the N best the worth of the next one, for the rest that of the last of the N."""
        chosen = self._options.chosen_of(best.size)
        if chosen >= best.size:
            return np.full(best.size, _NOBODY)
        order = sorted(range(best.size), key=lambda row: (-best[row], keys[row]))
        others = np.full(best.size, best[order[chosen - 1]])
        others[order[:chosen]] = best[order[chosen]]
        return others

    @staticmethod
    def _by_actions(standings: Sequence[Standing]) -> dict[tuple[bool, ...], list[int]]:
        groups: dict[tuple[bool, ...], list[int]] = {}
        for row, one in enumerate(standings):
            groups.setdefault(one.allowed, []).append(row)
        return groups
