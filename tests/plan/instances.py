"""Random small problems with every feature mixed, and the truth about them by enumeration or CP-SAT."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations_with_replacement

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
