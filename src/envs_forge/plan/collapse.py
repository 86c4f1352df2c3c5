"""Identical seeds as one: the same scores, the same allowed candidates, the same skills.

Solvers work on the groups; `Groups.expand` hands the draws back to seeds, in the order of their content hashes. The
order of the groups comes from their content alone, so no solver ever sees the order of the files.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from envs_forge.errors import InvariantError
from envs_forge.plan.problem import NO_SKILL, Ints, Keys, Problem, Skills

_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


@dataclass(frozen=True)
class Groups:
    """Seeds by group.

    Attributes:
        problem: The same problem with a group in the place of a seed; its capacity is that of all its members.
        order: Seeds that can be drawn, by group and within a group by key.
        starts: (groups + 1,) where each group begins in `order`.
        capacity: (S,) most draws of each seed.
    """

    problem: Problem
    order: Ints
    starts: Ints
    capacity: Ints

    def expand(self, chosen: Ints) -> Ints:
        """Candidates of seeds for chosen candidates of groups, ascending. Draws are spread over a group's members."""
        actions = self.problem.actions
        chosen = np.sort(chosen)
        groups, begin, count = np.unique(chosen // actions, return_index=True, return_counts=True)
        result = np.empty(chosen.size, np.int64)
        for group, at, draws in zip(groups.tolist(), begin.tolist(), count.tolist(), strict=True):
            seats = self._seats(group, draws)
            result[at : at + draws] = seats * actions + chosen[at : at + draws] % actions
        return np.sort(result)

    def _seats(self, group: int, draws: int) -> Ints:
        members = self.order[self.starts[group] : self.starts[group + 1]]
        if draws <= members.size:
            return members[:draws]
        rounds = [members[self.capacity[members] > level] for level in range(int(self.capacity[members].max()))]
        return np.concatenate(rounds)[:draws]


def collapse(problem: Problem) -> Groups:
    """Group the seeds that a plan cannot tell apart; seeds that cannot be drawn are left out."""
    usable = np.flatnonzero(problem.allowed.any(axis=1) & (problem.capacity > 0))
    content = _content(problem, usable)
    low, high = _digest(content, 1), _digest(content, 2)
    ranking = np.lexsort((problem.keys[usable], high, low))
    low, high = low[ranking], high[ranking]
    first = np.ones(usable.size, bool)
    first[1:] = (low[1:] != low[:-1]) | (high[1:] != high[:-1])
    starts = np.append(np.flatnonzero(first), usable.size)
    _check_equal(content, ranking, first)
    order = usable[ranking]
    return Groups(_grouped(problem, order, starts), order, starts, problem.capacity)


def _content(problem: Problem, usable: Ints) -> list[Keys]:
    """Everything of a seed that a plan can see, as columns of 64 bits, without what is not allowed."""
    columns: list[Keys] = []
    for action in range(problem.actions):
        allowed = problem.allowed[usable, action]
        score = np.where(allowed, problem.scores[usable, action] + 0.0, np.inf)
        columns.append(score.view(np.uint64))
        for skills in (problem.required, problem.optional):
            rows = np.where(allowed[:, None], skills[usable * problem.actions + action], NO_SKILL)
            columns += [column.astype(np.int64).view(np.uint64) for column in np.sort(rows, axis=1).T]
    return columns


def _digest(columns: list[Keys], salt: int) -> Keys:
    state = np.full(columns[0].size, salt, np.uint64)
    for column in columns:
        state = (state ^ column) * _FACTOR
        state ^= state >> _SHIFT
    return state


def _check_equal(columns: list[Keys], ranking: Ints, first: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> None:
    """Two digests of 64 bits never agreed by chance yet; should they, we must know."""
    for column in columns:
        ordered = column[ranking]
        if np.any((ordered[1:] != ordered[:-1]) & ~first[1:]):
            raise InvariantError("two different seeds have the same digest")


def _grouped(problem: Problem, order: Ints, starts: Ints) -> Problem:
    leaders = order[starts[:-1]]
    rows = (leaders[:, None] * problem.actions + np.arange(problem.actions)).ravel()
    allowed = problem.allowed[leaders]
    room = np.add.reduceat(problem.capacity[order], starts[:-1]) if leaders.size else np.zeros(0, np.int64)
    return Problem(
        scores=np.where(allowed, problem.scores[leaders], 0.0),
        allowed=allowed,
        required=_skills(problem.required, rows, allowed),
        optional=_skills(problem.optional, rows, allowed),
        quotas=problem.quotas,
        size=problem.size,
        capacity=np.minimum(room, problem.size),
        epsilon=problem.epsilon,
        penalty=problem.penalty,
        slack_limit=problem.slack_limit,
        keys=problem.keys[leaders],
    )


def _skills(skills: Skills, rows: Ints, allowed: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> Skills:
    return np.where(allowed.ravel()[:, None], skills[rows], np.int32(NO_SKILL))
