"""The decision problem and its answer as arrays: numbers in, indices out.

S seeds, A actions, V skills. Candidate `j = A·i + a` is action `a` on seed `i`. A plan draws exactly `size` candidates
(a candidate may be drawn more than once, a seed at most `capacity[i]` times) and has the value

    Σ scores − ε · Σ_v used_v − λ · Σ_v short_v

where `short_v` is what quota `v` lacks after all required and `used_v` optional uses. This is the level at which a
million seeds are no more than a few arrays; `planner.py` translates seeds with names to it and back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Skills = NDArray[np.int32] | NDArray[np.int16]
Bools = NDArray[np.bool_]
Keys = NDArray[np.uint64]

NO_SKILL = -1
"""Fills the rows of `required` and `optional` that have fewer skills than the widest."""

_CHUNK = 50_000
"""Seeds looked at together where all at once would take too much memory."""


@dataclass(frozen=True)
class Problem:
    """What is to be decided. All arrays are read only by convention.

    Attributes:
        scores: (S, A) frontier scores, finite wherever `allowed`.
        allowed: (S, A) candidates that may be drawn at all.
        required: (S·A, r) skills that a candidate uses; distinct in a row, padded with `NO_SKILL`.
        optional: (S·A, o) skills that it may use; distinct, none of them required, padded with `NO_SKILL`.
        quotas: (V,) uses wanted of each skill.
        size: Draws to choose.
        capacity: (S,) most draws of each seed.
        epsilon: ε, cost of one optional use.
        penalty: λ, cost of one missing use.
        slack_limit: (V,) most uses that may be missing, `inf` where unlimited; None: unlimited everywhere.
        keys: (S,) stable hashes of the seeds' content, which settle ties.
        skill_keys: (V,) stable hashes of the skills, so that skills without a quota change nothing; None: of their
            places.
        missing: Least and most uses that may be missing in all; None: any number. Only a proof by cases sets it.
    """

    scores: Floats
    allowed: Bools
    required: Skills
    optional: Skills
    quotas: Ints
    size: int
    capacity: Ints
    epsilon: float
    penalty: float
    slack_limit: Floats | None
    keys: Keys
    skill_keys: Keys | None = None
    missing: tuple[float, float] | None = None

    @property
    def seeds(self) -> int:
        """S."""
        return int(self.scores.shape[0])

    @property
    def actions(self) -> int:
        """A."""
        return int(self.scores.shape[1])

    @property
    def limits(self) -> Floats:
        """`slack_limit` as an array, `inf` where there is none."""
        return np.full(self.quotas.size, np.inf) if self.slack_limit is None else self.slack_limit

    @property
    def optional_pays(self) -> bool:
        """Whether an optional use costs less than a missing one. Where not, it serves only to stay within a limit."""
        return self.epsilon < self.penalty


@dataclass(frozen=True)
class Solution:
    """Candidates chosen and the proof of how good they are.

    Attributes:
        chosen: (size,) candidate indices in ascending order, repeated when drawn more than once.
        objective: Value of the choice, from the independent evaluator.
        bound: No choice can be worth more than this.
        prices: (V,) what one more unit of each quota costs, in units of F; between 0 and λ without a slack limit.
        size_price: Value of the last draw that entered, at the prices.
        next_price: Value of the draw that would come next, −inf where no further draw is possible.
        method: How the choice was found.
        solver: Name, version and options of the solver.
        seconds: Wall time.
    """

    chosen: Ints
    objective: float
    bound: float
    prices: Floats
    size_price: float
    next_price: float
    method: str
    solver: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def absolute_gap(self) -> float:
        """How much better than this choice another could be at most."""
        return max(0.0, self.bound - self.objective)


def uses(skills: Skills, quotas: int) -> Ints:
    """How often each of `quotas` skills occurs in rows of skills. Padding is skipped."""
    flat = skills[skills >= 0]
    return np.bincount(flat, minlength=quotas).astype(np.int64)


def reachable(problem: Problem, skills: Ints | None = None) -> Ints:
    """Most uses that a plan could make of each of some skills (default: all), each skill for itself."""
    wanted = np.arange(problem.quotas.size) if skills is None else skills
    local = np.full(problem.quotas.size + 1, -1, np.int64)
    local[wanted] = np.arange(wanted.size)
    total = np.zeros(wanted.size, np.int64)
    for start in range(0, problem.seeds, _CHUNK):
        stop = min(start + _CHUNK, problem.seeds)
        able = np.zeros((stop - start, wanted.size), bool)
        allowed = np.flatnonzero(problem.allowed[start:stop].ravel())
        for table in (problem.required, problem.optional):
            for column in range(table.shape[1]):
                skill = local[table[start * problem.actions + allowed, column]]
                able[(allowed // problem.actions)[skill >= 0], skill[skill >= 0]] = True
        total += problem.capacity[start:stop] @ able
    return np.minimum(total, problem.size)


def surely_reachable(problem: Problem) -> Ints:
    """(V,) uses that `reachable` does not fall below; quick, and enough for most quotas."""
    usable = (problem.allowed & (problem.capacity > 0)[:, None]).ravel()
    entries = np.zeros(problem.quotas.size, np.int64)
    for table in (problem.required, problem.optional):
        for column in range(table.shape[1]):
            entries += uses(table[usable, column], problem.quotas.size)
    return np.minimum(entries // problem.actions, problem.size)
