"""Identical seeds as one: the same scores, the same allowed candidates, the same skills.

Solvers work on the groups; `Groups.expand` hands the draws back to seeds, in the order of their content hashes. The
order of the groups comes from their content alone, so no solver ever sees the order of the files.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from envs_forge.plan.problem import NO_SKILL, Ints, Keys, Problem, Skills

_ODD = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)


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
        sizes = np.diff(self.starts)[groups]
        rank = np.arange(chosen.size) - np.repeat(begin, count)
        seats = self.order[np.minimum(np.repeat(self.starts[groups], count) + rank, self.order.size - 1)]
        for place in np.flatnonzero(count > sizes):
            span = slice(begin[place], begin[place] + count[place])
            seats[span] = self._seats(int(groups[place]), int(count[place]))
        return np.sort(seats * actions + chosen % actions)

    def _seats(self, group: int, draws: int) -> Ints:
        """Members for more draws than there are members, in rounds."""
        members = self.order[self.starts[group] : self.starts[group + 1]]
        rounds = [members[self.capacity[members] > level] for level in range(int(self.capacity[members].max()))]
        return np.concatenate(rounds)[:draws]


def collapse(problem: Problem) -> Groups:
    """Group the seeds that a plan cannot tell apart; seeds that cannot be drawn are left out."""
    usable = np.flatnonzero(problem.allowed.any(axis=1) & (problem.capacity > 0))
    low, high = _digest(problem, 1)[usable], _digest(problem, 2)[usable]
    ranking = np.argsort(problem.keys[usable], kind="stable")
    ranking = ranking[np.argsort(low[ranking], kind="stable")]
    low, high = low[ranking], high[ranking]
    first = np.ones(usable.size, bool)
    # Should digests clash, a group falls into several, which does no harm; wrongly joined they would have to clash
    # twice.
    first[1:] = (low[1:] != low[:-1]) | (high[1:] != high[:-1])
    starts = np.append(np.flatnonzero(first), usable.size)
    order = usable[ranking]
    return Groups(_grouped(problem, order, starts), order, starts, problem.capacity)


def _digest(problem: Problem, salt: int) -> Keys:
    """(S,) hashes of everything that a plan can see of a seed: scores and sets of skills of what is allowed."""
    names = np.random.default_rng(salt).integers(1, 1 << 63, size=(2, problem.quotas.size + 1), dtype=np.uint64)
    names[:, -1] = 0  # where padding points
    total = np.zeros(problem.seeds, np.uint64)
    for action in range(problem.actions):
        seen = (problem.scores[:, action] + 0.0).view(np.uint64) * _ODD
        for name, skills in zip(names, (problem.required, problem.optional), strict=True):
            for column in skills[action :: problem.actions].T:
                seen += name[column]
        seen = _mixed(seen + np.uint64(action + 1))
        seen[~problem.allowed[:, action]] = 0
        total = _mixed(total + seen)
    return total


def _mixed(values: Keys) -> Keys:
    values = (values ^ values >> _HALF) * _ODD
    return (values ^ values >> _HALF) * _ODD


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
    # Column by column in memory: that is how prices are added up.
    return np.asfortranarray(np.where(allowed.ravel()[:, None], skills[rows], np.int32(NO_SKILL)))
