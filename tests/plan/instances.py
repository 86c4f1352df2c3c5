"""Random small problems with every feature mixed, and the truth about them by enumeration or CP-SAT."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace
from itertools import combinations_with_replacement
from pathlib import Path

import numpy as np

from envs_forge.plan.problem import NO_SKILL, Problem

ACTIONS = 6


def random_problem(seed: int, *, most_seeds: int = 8, most_skills: int = 5, most_size: int = 4) -> Problem:
    """Feasible by its draws: twins, forbidden candidates, capacities, quotas beyond reach, both price scales."""
    rng = np.random.default_rng(seed)
    seeds, skills = int(rng.integers(1, most_seeds + 1)), int(rng.integers(0, most_skills + 1))
    rates = rng.integers(0, 5, seeds) / 4
    shift = np.array([-0.25, -0.1625, 0, 0, 0.25, 0.1625])
    scores = np.round(np.exp(-((np.clip(rates[:, None] + shift, 0, 1) - 0.5) ** 2) / 0.08), 12)
    required, optional = _skills(rng, seeds * ACTIONS, skills)
    if rng.random() < 0.4 and seeds > 1:  # twins, so that collapsing has something to do
        twin, source = rng.integers(0, seeds, 2)
        scores[twin] = scores[source]
        for table in (required, optional):
            table[twin * ACTIONS : (twin + 1) * ACTIONS] = table[source * ACTIONS : (source + 1) * ACTIONS]
    allowed = rng.random((seeds, ACTIONS)) < rng.choice([0.3, 0.7, 1.0])
    capacity = rng.integers(0, 3, seeds) if rng.random() < 0.4 else np.ones(seeds, np.int64)
    room = int(capacity[allowed.any(axis=1)].sum())
    size = int(rng.integers(1, most_size + 1))
    epsilon, penalty = [(0.01, 2.0), (1e-6, 0.25), (0.3, 0.25), (0.0, 0.1)][int(rng.integers(0, 4))]
    slack = None
    if rng.random() < 0.3:
        slack = np.where(rng.random(skills) < 0.5, np.inf, rng.integers(0, 3, skills).astype(float))
    return Problem(
        scores=scores,
        allowed=allowed,
        required=required,
        optional=optional,
        quotas=rng.integers(0, size + 2, skills),
        size=min(size, room),
        capacity=capacity.astype(np.int64),
        epsilon=epsilon,
        penalty=penalty,
        slack_limit=slack,
        keys=rng.permutation(seeds).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15),
    )


def large(
    seeds: int, skills: int, size: int, families: int | None = None, constants: str = "published", number: int = 0
) -> Problem:
    """An instance of the benchmark. Loaded by its path: as a directory of modules it would hide packages of tests."""
    name = "planner_instances"
    if name not in sys.modules:
        path = Path(__file__).parents[2] / "benchmarks" / f"{name}.py"
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    maker = sys.modules[name]
    return maker.make(maker.Spec(seeds, skills, size, families, constants, number))


def _skills(rng: np.random.Generator, rows: int, skills: int) -> tuple[np.ndarray, np.ndarray]:
    required = np.full((rows, 2), NO_SKILL, np.int32)
    optional = np.full((rows, 3), NO_SKILL, np.int32)
    for row in range(rows):
        drawn = rng.permutation(skills)
        first = int(rng.integers(0, min(2, skills) + 1))
        second = int(rng.integers(0, min(3, skills - first) + 1))
        required[row, :first] = drawn[:first]
        optional[row, :second] = drawn[first : first + second]
    return required, optional


def value(problem: Problem, chosen: tuple[int, ...]) -> float:
    """Worth of a choice straight from the definition, −inf where it breaks a constraint."""
    draws: dict[int, int] = {}
    total, used = 0.0, np.zeros(problem.quotas.size, int)
    spare = np.zeros(problem.quotas.size, int)
    for candidate in chosen:
        row, column = divmod(candidate, problem.actions)
        draws[row] = draws.get(row, 0) + 1
        if not problem.allowed[row, column] or draws[row] > problem.capacity[row]:
            return -np.inf
        total += problem.scores[row, column]
        for skill in problem.required[candidate]:
            if skill >= 0:
                used[skill] += 1
        for skill in problem.optional[candidate]:
            if skill >= 0:
                spare[skill] += 1
    for skill, quota in enumerate(problem.quotas):
        options = []
        for extra in range(spare[skill] + 1):
            short = max(0, quota - used[skill] - extra)
            if short <= problem.limits[skill]:
                options.append(problem.epsilon * extra + problem.penalty * short)
        if not options:
            return -np.inf
        total -= min(options)
    return float(total)


def brute_force(problem: Problem) -> float:
    """Best value over all choices; −inf when there is none."""
    usable = [int(j) for j in np.flatnonzero(problem.allowed.ravel())]
    return max((value(problem, c) for c in combinations_with_replacement(usable, problem.size)), default=-np.inf)


def cp_sat(problem: Problem) -> float:
    """Best value by CP-SAT on the textbook model, −inf when there is none. Exact: scores have 12 decimals."""
    from ortools.sat.python import cp_model

    def whole(number: float) -> int:
        return round(number * 10**12)

    model = cp_model.CpModel()
    room = [problem.size * int(allowed) for allowed in problem.allowed.ravel()]
    x = [model.new_int_var(0, most, f"x{j}") for j, most in enumerate(room)]
    slack = [
        model.new_int_var(0, int(min(quota, limit)), f"s{v}")
        for v, (quota, limit) in enumerate(zip(problem.quotas, problem.limits, strict=True))
    ]
    served, worth = [[variable] for variable in slack], []
    for j, draws in enumerate(x):
        for v in problem.required[j][problem.required[j] >= 0]:
            served[v].append(draws)
        for v in problem.optional[j][problem.optional[j] >= 0]:
            use = model.new_int_var(0, room[j], f"u{j}_{v}")
            model.add(use <= draws)
            served[v].append(use)
            worth.append(-whole(problem.epsilon) * use)
    model.add(sum(x) == problem.size)
    for i in range(problem.seeds):
        model.add(sum(x[problem.actions * i : problem.actions * (i + 1)]) <= int(problem.capacity[i]))
    for terms, quota in zip(served, problem.quotas, strict=True):
        model.add(sum(terms) >= int(quota))
    worth += [whole(score) * draws for score, draws in zip(problem.scores.ravel().tolist(), x, strict=True)]
    worth += [-whole(problem.penalty) * variable for variable in slack]
    model.maximize(sum(worth))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 1
    solver.parameters.linearization_level = 2  # without, ties take it minutes
    status = solver.solve(model)
    assert status in (cp_model.OPTIMAL, cp_model.INFEASIBLE)
    return solver.objective_value / 10**12 if status == cp_model.OPTIMAL else -np.inf


def shuffled(problem: Problem, seed: int) -> tuple[Problem, np.ndarray]:
    """The same problem with its seeds in another order, and where each new row came from."""
    order = np.random.default_rng(seed).permutation(problem.seeds)
    rows = (order[:, None] * problem.actions + np.arange(problem.actions)).ravel()
    return (
        replace(
            problem,
            scores=problem.scores[order],
            allowed=problem.allowed[order],
            required=problem.required[rows],
            optional=problem.optional[rows],
            capacity=problem.capacity[order],
            keys=problem.keys[order],
        ),
        order,
    )
