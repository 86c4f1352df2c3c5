"""The exact compact integer program, whole or with most of it fixed.

For a fixed choice the best optional uses and slacks are closed-form, so the program keeps only draws `x` and, for each
skill with a quota, one `w` (optional uses) and one `ξ` (missing uses), both continuous:

    max  Σ F·x − ε·Σ w − λ·Σ ξ
         Σ_actions x ≤ capacity          for each seed with several candidates
         Σ x = size
         Σ_required x + w + ξ ≥ m        for each quota
         Σ_optional x − w ≥ 0            for each quota
        least ≤ Σ ξ ≤ most              where the problem says how much may be missing in all

`w` and `ξ` get no upper bounds that the rows imply: those would only weaken the prices. Read back is x alone. The
integer program counts candidates with the same skills together (`alike.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from envs_forge.errors import InvariantError
from envs_forge.plan.alike import Kinds, counted, counts, settled
from envs_forge.plan.check import closed_form
from envs_forge.plan.highs import Outcome, Program, solve
from envs_forge.plan.problem import Bools, Floats, Ints, Problem, Skills, uses


@dataclass(frozen=True)
class Compact:
    """The program with what its rows and columns stand for.

    Columns: draws of `candidates`, then `w`, then `ξ`, one of each for every skill in `skills`, then the counts of
    `kinds` in an integer program. Rows: seeds with several candidates, the size, the quotas, the optional offers,
    what is missing in all, the counts. `fixed` are draws that are part of every solution.
    """

    program: Program
    candidates: Ints
    skills: Ints
    size_row: int
    fixed: Ints
    fixed_value: float
    kinds: Kinds | None = None

    @property
    def quota_rows(self) -> Ints:
        """Rows of the quotas, in the order of `skills`."""
        return self.size_row + 1 + np.arange(self.skills.size)

    def draws(self, outcome: Outcome) -> Ints:
        """All draws of an integer solution, repeated, ascending."""
        assert self.kinds is not None
        draws = settled(self.program, self.kinds, outcome.x)
        return np.sort(np.concatenate([self.fixed, np.repeat(self.candidates, draws)]))

    def prices(self, outcome: Outcome, quotas: int) -> Floats:
        """(V,) duals of the quota rows of a linear solve, as prices ≥ 0."""
        result = np.zeros(quotas)
        result[self.skills] = np.maximum(-outcome.row_dual[self.quota_rows], 0.0)
        return result

    def start(self, problem: Problem, chosen: Ints) -> Floats:
        """Values of all columns for a choice that contains the fixed draws."""
        assert self.kinds is not None
        draws = np.bincount(chosen, minlength=problem.scores.size)[self.candidates].astype(np.float64)
        used, short = closed_form(problem, chosen)
        own = np.concatenate([draws, used[self.skills], short[self.skills]])
        return np.concatenate([own, counts(self.kinds, own.size, draws)])


def compact(
    problem: Problem, candidates: Ints | None = None, *, fixed: Ints | None = None, integer: bool = True
) -> Compact:
    """Write the program.

    Args:
        problem: The problem.
        candidates: What may be drawn, ascending; default: all that is allowed and not the worse twin of another.
        fixed: Draws that are made already, of seeds without `candidates`.
        integer: Whether draws are integer.
    """
    kept = worthwhile(problem) if candidates is None else candidates
    done = np.zeros(0, np.int64) if fixed is None else fixed
    skills = np.flatnonzero(problem.quotas > 0)
    width, count = skills.size, kept.size
    seeds, position = np.unique(kept // problem.actions, return_inverse=True)
    several = np.bincount(position, minlength=seeds.size) > 1
    size_row = int(several.sum())
    rows, columns, values = _matrix(problem, kept, skills, position, several)
    room = problem.capacity[seeds].astype(np.float64)
    wanted = problem.quotas[skills] - uses(problem.required[done], problem.quotas.size)[skills]
    offered = uses(problem.optional[done], problem.quotas.size)[skills]
    size = problem.size - done.size
    flat = problem.scores.ravel()
    program = Program(
        cost=np.concatenate([flat[kept], np.full(width, -problem.epsilon), np.full(width, -problem.penalty)]),
        upper=np.concatenate([room[position], np.full(width, np.inf), problem.limits[skills]]),
        row_lower=np.concatenate([np.full(size_row, -np.inf), [size], wanted, -offered]).astype(np.float64),
        row_upper=np.concatenate([room[several], [size], np.full(2 * width, np.inf)]).astype(np.float64),
        rows=rows,
        columns=columns,
        values=values,
        integer=np.arange(count + 2 * width) < count if integer else None,
    )
    if problem.missing is not None:
        program = _in_all(program, problem.missing, count + width + np.arange(width))
    kinds = None
    if integer:
        program, kinds = counted(program, problem, kept)
    return Compact(program, kept, skills, size_row, done, float(flat[done].sum()), kinds)


def _in_all(program: Program, missing: tuple[float, float], columns: Ints) -> Program:
    """The program with limits for the sum of some columns."""
    row = np.full(columns.size, program.row_lower.size)
    return replace(
        program,
        row_lower=np.append(program.row_lower, missing[0]),
        row_upper=np.append(program.row_upper, missing[1]),
        rows=np.concatenate([program.rows, row]),
        columns=np.concatenate([program.columns, columns]),
        values=np.concatenate([program.values, np.ones(columns.size)]),
    )


def _matrix(problem: Problem, kept: Ints, skills: Ints, position: Ints, several: Bools) -> tuple[Ints, Ints, Floats]:
    """Rows, columns and values of the entries."""
    count, width = kept.size, skills.size
    local = np.full(problem.quotas.size, -1, np.int64)
    local[skills] = np.arange(width)
    size_row = int(several.sum())
    quota_row, offer_row = size_row + 1, size_row + 1 + width
    each = np.arange(width)
    shared = np.flatnonzero(several[position])
    parts = [
        ((np.cumsum(several) - 1)[position[shared]], shared, 1.0),
        (np.full(count, size_row), np.arange(count), 1.0),
        (*_entries(problem.required[kept], local, quota_row), 1.0),
        (quota_row + each, count + each, 1.0),
        (quota_row + each, count + width + each, 1.0),
        (*_entries(problem.optional[kept], local, offer_row), 1.0),
        (offer_row + each, count + each, -1.0),
    ]
    return (
        np.concatenate([part[0] for part in parts]),
        np.concatenate([part[1] for part in parts]),
        np.concatenate([np.full(part[0].size, part[2]) for part in parts]),
    )


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
    """(V,) what the quotas lack beyond their limits in a plan that lacks least, all of them together."""
    whole = compact(problem)
    program, width = whole.program, whole.skills.size
    columns = program.cost.size + np.arange(width)
    assert program.integer is not None
    extended = Program(
        cost=np.concatenate([np.zeros(program.cost.size), np.full(width, -1.0)]),
        upper=np.concatenate([program.upper, np.full(width, np.inf)]),
        row_lower=program.row_lower,
        row_upper=program.row_upper,
        rows=np.concatenate([program.rows, whole.quota_rows]),
        columns=np.concatenate([program.columns, columns]),
        values=np.concatenate([program.values, np.ones(width)]),
        integer=np.concatenate([program.integer, np.zeros(width, bool)]),
    )
    outcome = solve(extended, absolute_gap=0.5)
    if not outcome.feasible:
        raise InvariantError("the draws do not fit the capacities")
    result = np.zeros(problem.quotas.size)
    result[whole.skills] = np.rint(outcome.x[-width:])
    return result
