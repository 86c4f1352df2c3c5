"""What the optimiser is compared with: per-seed best, coverage-aware greedy, and recipes used blindly.

None of them proves anything and none honours a slack limit. Without binding quotas `argmax` and `greedy` are optimal.
"""

from __future__ import annotations

import heapq

import numpy as np

from envs_forge.plan.problem import Ints, Problem, Skills


def argmax(problem: Problem) -> Ints:
    """Each seed's best candidate, then the best `size` of those; quotas play no part."""
    masked = np.where(problem.allowed, problem.scores, -np.inf)
    action = masked.argmax(axis=1)
    best = masked[np.arange(problem.seeds), action]
    order = np.lexsort((problem.keys, -best))
    order = order[np.isfinite(best[order]) & (problem.capacity[order] > 0)]
    draws = np.repeat(order, np.minimum(problem.capacity[order], problem.size))[: problem.size]
    return np.sort(draws * problem.actions + action[draws])


def greedy(problem: Problem) -> Ints:
    """Draw by draw, the candidate that adds most: its score and what it saves of missing uses.

    What a draw adds never grows while others are drawn, so a heap of outdated gains gives the true best.
    """
    state = _Coverage(problem)
    room = problem.capacity.tolist()
    usable = problem.allowed & (problem.capacity > 0)[:, None]
    keys = problem.keys.tolist()
    heap = [(-state.gain(j), keys[j // problem.actions], j) for j in np.flatnonzero(usable.ravel()).tolist()]
    heapq.heapify(heap)
    chosen: list[int] = []
    while len(chosen) < problem.size and heap:
        _, key, candidate = heapq.heappop(heap)
        if room[candidate // problem.actions] == 0:
            continue
        entry = (-state.gain(candidate), key, candidate)
        if heap and entry > heap[0]:
            heapq.heappush(heap, entry)
            continue
        chosen.append(candidate)
        room[candidate // problem.actions] -= 1
        state.take(candidate)
        heapq.heappush(heap, (-state.gain(candidate), key, candidate))
    return np.sort(np.array(chosen, dtype=np.int64))


class _Coverage:
    """What the quotas still lack, and what the optional skills drawn so far could fill of it."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._lacking: list[int] = problem.quotas.tolist()
        self._offered = [0] * problem.quotas.size

    def gain(self, candidate: int) -> float:
        """Score of a candidate and what a draw of it saves now."""
        problem = self._problem
        gain = float(problem.scores.flat[candidate])
        for skill in _skills(problem.required, candidate):
            if self._lacking[skill] > self._offered[skill] or not problem.optional_pays:
                gain += problem.penalty * (self._lacking[skill] > 0)
            elif self._lacking[skill] > 0:
                gain += problem.epsilon
        if problem.optional_pays:
            open_ = sum(self._lacking[skill] > self._offered[skill] for skill in _skills(problem.optional, candidate))
            gain += (problem.penalty - problem.epsilon) * open_
        return gain

    def take(self, candidate: int) -> None:
        """Count a draw."""
        for skill in _skills(self._problem.required, candidate):
            self._lacking[skill] = max(0, self._lacking[skill] - 1)
        for skill in _skills(self._problem.optional, candidate):
            self._offered[skill] += 1


def _skills(skills: Skills, candidate: int) -> list[int]:
    return [skill for skill in skills[candidate].tolist() if skill >= 0]


def blind(problem: Problem, seed: int) -> Ints:
    """Seeds in a random but repeatable order of their content hashes, each with a random allowed action."""
    rng = np.random.default_rng(seed)
    order = np.argsort(problem.keys, kind="stable")
    order = order[problem.allowed[order].any(axis=1)]
    order = order[rng.permutation(order.size)]
    rounds = [order[problem.capacity[order] > level] for level in range(int(problem.capacity[order].max(initial=0)))]
    draws = np.concatenate([*rounds, np.zeros(0, np.int64)])[: problem.size].astype(np.int64)
    luck = np.where(problem.allowed[draws], rng.random((draws.size, problem.actions)), -1.0)
    return np.sort(draws * problem.actions + luck.argmax(axis=1))
