"""The textbook model of the planning problem, as one writes it down, for PuLP with CBC and for HiGHS.

A binary `x` for each candidate, a binary `u` for each skill that a candidate requires (`u = x`) or offers (`u ≤ x`), a
slack for each quota:

    max  Σ F·x − ε·Σ_offered u − λ·Σ ξ     s.t.  Σ x = N,  Σ_actions x ≤ capacity,  Σ u + ξ ≥ m

Both solvers have to prove their answer: no relative gap is allowed to them, beyond their own tolerances.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from envs_forge.plan.highs import Program
from envs_forge.plan.highs import solve as solve_program
from envs_forge.plan.problem import Bools, Ints, Problem


@dataclass(frozen=True)
class Answer:
    """What a solver chose; `bound` is None where it does not tell. `building` is the part of the time before it ran."""

    chosen: Ints
    bound: float | None
    building: float


def pulp_cbc(problem: Problem) -> Answer:
    """PuLP's model of it, solved by the CBC that comes with PuLP."""
    import pulp

    began = time.perf_counter()
    model = pulp.LpProblem("plan", pulp.LpMaximize)
    x = [pulp.LpVariable(f"x{j}", cat="Binary") for j in range(problem.scores.size)]
    slack = [pulp.LpVariable(f"s{v}", lowBound=0) for v in range(problem.quotas.size)]
    cost: list[Any] = [(variable, score) for variable, score in zip(x, problem.scores.ravel().tolist(), strict=True)]
    cost += [(variable, -problem.penalty) for variable in slack]
    served: list[list[Any]] = [[(variable, 1)] for variable in slack]
    for kind, table in enumerate((problem.required, problem.optional)):
        for j, row in enumerate(table.tolist()):
            for v in row:
                if v < 0:
                    continue
                u = pulp.LpVariable(f"u{j}_{v}", cat="Binary")
                model += pulp.LpAffineExpression([(u, 1), (x[j], -1)]) == 0 if kind == 0 else u <= x[j]
                served[v].append((u, 1))
                if kind == 1:
                    cost.append((u, -problem.epsilon))
    model.setObjective(pulp.LpAffineExpression(cost))
    model += pulp.lpSum(x) == problem.size
    for i in range(problem.seeds):
        model += pulp.lpSum(x[problem.actions * i : problem.actions * (i + 1)]) <= 1
    for v, terms in enumerate(served):
        model += pulp.LpAffineExpression(terms) >= int(problem.quotas[v])
    building = time.perf_counter() - began
    model.solve(pulp.PULP_CBC_CMD(msg=False, threads=1))
    if pulp.LpStatus[model.status] != "Optimal":
        raise SystemExit(f"CBC ended with {pulp.LpStatus[model.status]}")
    return Answer(np.flatnonzero([variable.value() > 0.5 for variable in x]), None, building)


def highs(problem: Problem) -> Answer:
    """The same model handed to HiGHS as arrays."""
    began = time.perf_counter()
    program = _program(problem)
    building = time.perf_counter() - began
    outcome = solve_program(program)
    return Answer(np.flatnonzero(outcome.x[: problem.scores.size] > 0.5), outcome.bound, building)


def _program(problem: Problem) -> Program:
    count, skills = problem.scores.size, problem.quotas.size
    needs, offers = _pairs(problem.required), _pairs(problem.optional)
    pairs = np.concatenate([needs, offers])
    offered = np.arange(len(pairs)) >= len(needs)
    link_row, quota_row = problem.seeds + 1, problem.seeds + 1 + len(pairs)
    each = np.arange(len(pairs))
    columns = np.concatenate([np.arange(count), np.arange(count), count + each, pairs[:, 0], count + each])
    parts = [np.arange(count) // problem.actions, np.full(count, problem.seeds), link_row + each, link_row + each]
    rows = np.concatenate([*parts, quota_row + pairs[:, 1]])
    values = np.ones(rows.size)
    values[2 * count + len(pairs) : 2 * count + 2 * len(pairs)] = -1.0
    slack: Ints = np.arange(skills)
    whole: Bools = np.arange(count + len(pairs) + skills) < count + len(pairs)
    return Program(
        cost=np.concatenate(
            [problem.scores.ravel(), np.where(offered, -problem.epsilon, 0.0), np.full(skills, -problem.penalty)]
        ),
        upper=np.where(whole, 1.0, np.inf),
        row_lower=np.concatenate(
            [np.full(problem.seeds, -np.inf), [problem.size], np.where(offered, -np.inf, 0.0), problem.quotas]
        ).astype(np.float64),
        row_upper=np.concatenate(
            [problem.capacity, [problem.size], np.zeros(len(pairs)), np.full(skills, np.inf)]
        ).astype(np.float64),
        rows=np.concatenate([rows, quota_row + slack]),
        columns=np.concatenate([columns, count + len(pairs) + slack]),
        values=np.concatenate([values, np.ones(skills)]),
        integer=whole,
    )


def _pairs(table: Ints) -> Ints:
    """(pairs, 2) candidates and their skills."""
    candidate, place = np.nonzero(table >= 0)
    return np.stack([candidate, table[candidate, place]], axis=1).astype(np.int64)
