"""The exact compact integer program.

For a fixed choice the best optional uses and slacks are closed-form, so the program keeps only draws `x` and, for each
skill with a quota, one `w` (optional uses) and one `ξ` (missing uses), both continuous:

    max  Σ F·x − ε·Σ w − λ·Σ ξ
         Σ_actions x ≤ capacity          for each seed with several candidates
         Σ x = size
         Σ_required x + w + ξ ≥ m        for each quota
         Σ_optional x − w ≥ 0            for each quota

`w` and `ξ` get no upper bounds that the rows imply: those would only weaken the prices. Read back is x alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from envs_forge.errors import InvariantError
from envs_forge.plan.highs import Outcome, Program, solve
from envs_forge.plan.problem import Bools, Floats, Ints, Problem, Skills


@dataclass(frozen=True)
class Compact:
    """The program with what its rows and columns stand for.

    Columns: draws of `candidates`, then `w`, then `ξ`, one of each for every skill in `skills`. Rows: seeds with
    several candidates, the size, the quotas, the optional offers.
    """

    program: Program
    candidates: Ints
    skills: Ints
    size_row: int

    def draws(self, outcome: Outcome) -> Ints:
        """Candidates that an integer solution draws, repeated, ascending."""
        counts = np.rint(outcome.x[: self.candidates.size]).astype(np.int64)
        return np.sort(np.repeat(self.candidates, counts))

    def prices(self, outcome: Outcome, quotas: int) -> Floats:
        """(V,) duals of the quota rows of a linear solve, as prices ≥ 0."""
        result = np.zeros(quotas)
        rows = slice(self.size_row + 1, self.size_row + 1 + self.skills.size)
        result[self.skills] = np.maximum(-outcome.row_dual[rows], 0.0)
        return result

    def missing(self, outcome: Outcome, quotas: int) -> Floats:
        """(V,) values of ξ."""
        result = np.zeros(quotas)
        result[self.skills] = outcome.x[self.candidates.size + self.skills.size :]
        return result


def compact(problem: Problem, candidates: Ints | None = None, *, integer: bool = True) -> Compact:
    """Write the program over `candidates` (default: all that are allowed and not the worse twin of another)."""
    kept = worthwhile(problem) if candidates is None else candidates
    skills = np.flatnonzero(problem.quotas > 0)
    seeds, position = np.unique(kept // problem.actions, return_inverse=True)
    several = np.bincount(position, minlength=seeds.size) > 1
    seed_row = np.cumsum(several) - 1
    size_row = int(several.sum())
    count, width = kept.size, skills.size
    local = np.full(problem.quotas.size, -1, np.int64)
    local[skills] = np.arange(width)
    quota_row, offer_row = size_row + 1, size_row + 1 + width
    extra = np.arange(width)
    in_seed_row = np.flatnonzero(several[position])
    parts = [
        (seed_row[position[in_seed_row]], in_seed_row, 1.0),
        (np.full(count, size_row), np.arange(count), 1.0),
        (*_entries(problem.required[kept], local, quota_row), 1.0),
        (quota_row + extra, count + extra, 1.0),
        (quota_row + extra, count + width + extra, 1.0),
        (*_entries(problem.optional[kept], local, offer_row), 1.0),
        (offer_row + extra, count + extra, -1.0),
    ]
    room = problem.capacity[seeds].astype(np.float64)
    program = Program(
        cost=np.concatenate(
            [problem.scores.ravel()[kept], np.full(width, -problem.epsilon), np.full(width, -problem.penalty)]
        ),
        upper=np.concatenate([room[position], np.full(width, np.inf), problem.limits[skills]]),
        row_lower=np.concatenate(
            [np.full(size_row, -np.inf), [problem.size], problem.quotas[skills], np.zeros(width)]
        ).astype(np.float64),
        row_upper=np.concatenate([room[several], [problem.size], np.full(2 * width, np.inf)]).astype(np.float64),
        rows=np.concatenate([part[0] for part in parts]),
        columns=np.concatenate([part[1] for part in parts]),
        values=np.concatenate([np.full(part[0].size, part[2]) for part in parts]),
        integer=np.arange(count + 2 * width) < count if integer else None,
    )
    return Compact(program, kept, skills, size_row)


def _entries(skills: Skills, local: Ints, first_row: int) -> tuple[Ints, Ints]:
    """Rows and columns of the ones that candidates put into the rows of their skills."""
    column, place = np.nonzero(skills >= 0)
    row = local[skills[column, place]]
    return first_row + row[row >= 0], column[row >= 0]


def worthwhile(problem: Problem) -> Ints:
    """Allowed candidates without those whose skills an earlier or better candidate of the same seed has as well."""
    keep = problem.allowed.copy()
    required = np.sort(problem.required, axis=1).reshape(problem.seeds, problem.actions, -1)
    optional = np.sort(problem.optional, axis=1).reshape(problem.seeds, problem.actions, -1)
    for first in range(problem.actions):
        for second in range(first + 1, problem.actions):
            twins = keep[:, first] & keep[:, second]
            twins &= (required[:, first] == required[:, second]).all(axis=1)
            twins &= (optional[:, first] == optional[:, second]).all(axis=1)
            better = problem.scores[:, second] > problem.scores[:, first]
            keep[twins & better, first] = False
            keep[twins & ~better, second] = False
    return np.flatnonzero(keep.ravel())


def least_missing(problem: Problem) -> Floats:
    """(V,) what the quotas lack at least, all of them together, beyond their limits, in a plan that lacks least."""
    program = compact(problem)
    count, width = program.candidates.size, program.skills.size
    cost = np.zeros(program.program.cost.size + width)
    cost[-width:] = -1.0
    extended = Program(
        cost=cost,
        upper=np.concatenate([program.program.upper, np.full(width, np.inf)]),
        row_lower=program.program.row_lower,
        row_upper=program.program.row_upper,
        rows=np.concatenate([program.program.rows, program.size_row + 1 + np.arange(width)]),
        columns=np.concatenate([program.program.columns, count + 2 * width + np.arange(width)]),
        values=np.concatenate([program.program.values, np.ones(width)]),
        integer=np.concatenate([_integer(program.program), np.zeros(width, bool)]),
    )
    outcome = solve(extended, absolute_gap=0.5)
    if not outcome.feasible:
        raise InvariantError("the draws do not fit the capacities")
    result = np.zeros(problem.quotas.size)
    result[program.skills] = np.rint(outcome.x[-width:])
    return result


def _integer(program: Program) -> Bools:
    return np.zeros(program.cost.size, bool) if program.integer is None else program.integer
