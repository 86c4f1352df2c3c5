"""Candidates with the same skills, counted together: a search then branches on how often skills are used, not by whom.

Seeds that grew from templates give many candidates that differ in their score alone. For each such *kind* the integer
program gets one whole number, the draws of all its candidates; their own draws become continuous. Nothing is lost:
once the counts of all kinds are whole, dividing them among the seeds is a transportation problem, whose corners are
whole, and `settled` takes a corner.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from envs_forge.errors import InvariantError
from envs_forge.plan.highs import Program, solve
from envs_forge.plan.problem import Floats, Ints, Problem

_WHOLE = 1e-6


@dataclass(frozen=True)
class Kinds:
    """Which candidates are counted together.

    Attributes:
        member: (candidates,) the kind of each candidate.
        place: (kinds,) the column of each kind's count: the candidate's own where it is the only one.
    """

    member: Ints
    place: Ints


def counted(program: Program, problem: Problem, candidates: Ints) -> tuple[Program, Kinds]:
    """The program with counts for the kinds of several candidates. Its first columns are the candidates' draws."""
    skills = [np.sort(table[candidates], axis=1) for table in (problem.required, problem.optional)]
    kinds, member = np.unique(np.concatenate(skills, axis=1), axis=0, return_inverse=True)
    member = member.ravel()
    shared = np.bincount(member, minlength=len(kinds)) > 1
    columns, rows = program.cost.size, program.row_lower.size
    number = np.cumsum(shared) - 1
    place: Ints = np.zeros(len(kinds), np.int64)
    place[member] = np.arange(candidates.size)
    place[shared] = columns + number[shared]
    inside = np.flatnonzero(shared[member])
    count = int(shared.sum())
    each = np.arange(count)
    assert program.integer is not None
    integer = program.integer.copy()
    integer[inside] = False
    wider = replace(
        program,
        cost=np.concatenate([program.cost, np.zeros(count)]),
        upper=np.concatenate([program.upper, np.full(count, np.inf)]),
        row_lower=np.concatenate([program.row_lower, np.zeros(count)]),
        row_upper=np.concatenate([program.row_upper, np.zeros(count)]),
        rows=np.concatenate([program.rows, rows + number[member[inside]], rows + each]),
        columns=np.concatenate([program.columns, inside, columns + each]),
        values=np.concatenate([program.values, np.ones(inside.size), np.full(count, -1.0)]),
        integer=np.concatenate([integer, np.ones(count, bool)]),
    )
    return wider, Kinds(member, place)


def counts(kinds: Kinds, columns: int, draws: Floats) -> Floats:
    """Values of the count columns, those from `columns` on, for given draws of the candidates."""
    total = np.bincount(kinds.member, draws, minlength=kinds.place.size)
    extra = kinds.place >= columns
    result = np.zeros(int(extra.sum()))
    result[kinds.place[extra] - columns] = total[extra]
    return result


def settled(program: Program, kinds: Kinds, x: Floats) -> Ints:
    """Whole draws of the candidates for a solution whose counts are whole: as they are, else the best corner.

    Raises:
        InvariantError: The counts cannot be divided among the seeds, which a solution excludes.
    """
    draws = x[: kinds.member.size]
    if np.abs(draws - np.rint(draws)).max(initial=0.0) > _WHOLE:
        outcome = solve(_transport(program, kinds, np.rint(x[kinds.place])))
        draws = outcome.x[: kinds.member.size]
        if not outcome.feasible or np.abs(draws - np.rint(draws)).max(initial=0.0) > _WHOLE:
            raise InvariantError("whole counts were not divided into whole draws")
    return np.rint(draws).astype(np.int64)


def _transport(program: Program, kinds: Kinds, totals: Floats) -> Program:
    """The linear program over draws alone whose counts are given. The rows that count draws of seeds come first."""
    width, rows = kinds.member.size, program.row_lower.size
    mine = program.columns < width
    return Program(
        cost=program.cost[:width],
        upper=program.upper[:width],
        row_lower=np.concatenate([np.where(_of_seeds(program, width), program.row_lower, -np.inf), totals]),
        row_upper=np.concatenate([np.where(_of_seeds(program, width), program.row_upper, np.inf), totals]),
        rows=np.concatenate([program.rows[mine], rows + kinds.member]),
        columns=np.concatenate([program.columns[mine], np.arange(width)]),
        values=np.concatenate([program.values[mine], np.ones(width)]),
    )


def _of_seeds(program: Program, width: int) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Rows in which nothing but draws of candidates stands: capacities and the size."""
    pure = np.ones(program.row_lower.size, bool)
    pure[program.rows[program.columns >= width]] = False
    return pure
