"""Identical seeds as one: the same scores, the same allowed candidates, the same skills among those with a quota.

Solvers work on the groups; `Groups.expand` hands the draws back to seeds, in the order of their content hashes. The
order of the groups comes from their content alone, so no solver ever sees the order of the files.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from envs_forge.plan.problem import NO_SKILL, Bools, Ints, Keys, Problem, Skills

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
    required, optional = _names(problem, salt), _names(problem, salt + 2)
    total = np.zeros(problem.seeds, np.uint64)
    for action in range(problem.actions):
        seen = (problem.scores[:, action] + 0.0).view(np.uint64) * _ODD
        for name, skills in ((required, problem.required), (optional, problem.optional)):
            for column in skills[action :: problem.actions].T:
                seen += name[column]
        seen = _mixed(seen + np.uint64(action + 1))
        seen[~problem.allowed[:, action]] = 0
        total = _mixed(total + seen)
    return total


def _names(problem: Problem, salt: int) -> Keys:
    """(V + 1,) a hash for each skill, 0 where it has no quota and, last, where padding points."""
    keys = np.arange(problem.quotas.size, dtype=np.uint64) if problem.skill_keys is None else problem.skill_keys
    names = _mixed(_mixed(keys ^ np.uint64(salt << 48)) + np.uint64(salt))
    return np.append(np.where(problem.quotas > 0, names, np.uint64(0)), np.uint64(0))


def _mixed(values: Keys) -> Keys:
    values = (values ^ values >> _HALF) * _ODD
    return (values ^ values >> _HALF) * _ODD


def _grouped(problem: Problem, order: Ints, starts: Ints) -> Problem:
    leaders = order[starts[:-1]]
    allowed = problem.allowed[leaders]
    scores = problem.scores[leaders]
    scores[~allowed] = 0.0
    room = np.add.reduceat(problem.capacity[order], starts[:-1]) if leaders.size else np.zeros(0, np.int64)
    return Problem(
        scores=scores,
        allowed=allowed,
        required=_skills(problem, problem.required, leaders, allowed),
        optional=_skills(problem, problem.optional, leaders, allowed),
        quotas=problem.quotas,
        size=problem.size,
        capacity=np.minimum(room, problem.size),
        epsilon=problem.epsilon,
        penalty=problem.penalty,
        slack_limit=problem.slack_limit,
        keys=problem.keys[leaders],
        skill_keys=problem.skill_keys,
    )


def _skills(problem: Problem, skills: Skills, leaders: Ints, allowed: Bools) -> Skills:
    """Skills with a quota of the leaders' candidates, in as few bytes as they fit into."""
    small = np.int16 if problem.quotas.size < np.iinfo(np.int16).max else np.int32
    known = np.append(np.where(problem.quotas > 0, np.arange(problem.quotas.size), NO_SKILL), NO_SKILL).astype(small)
    # Column by column in memory: that is how prices are added up.
    result = np.empty((leaders.size * problem.actions, skills.shape[1]), small, order="F")
    for column in range(skills.shape[1]):
        own = skills[:, column].reshape(problem.seeds, problem.actions)[leaders]
        named = known[own]
        named[~allowed] = NO_SKILL
        result[:, column] = named.ravel()
    return result
