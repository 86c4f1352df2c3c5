"""The way to HiGHS: what its options mean, asked of the real solver."""

from __future__ import annotations

import numpy as np
import pytest

from envs_forge.plan.highs import Program, solve


def knapsack(seed: int) -> tuple[Program, float]:
    """Six of twelve things within two weights, and the best value by trying all."""
    rng = np.random.default_rng(seed)
    value, weights = rng.random(12), rng.random((2, 12))
    choices = np.array([[number >> bit & 1 for bit in range(12)] for number in range(1 << 12)])
    fits = (choices.sum(axis=1) == 6) & (choices @ weights.T <= 3.5).all(axis=1)
    best = float((choices @ value)[fits].max(initial=-np.inf))
    program = Program(
        cost=value,
        upper=np.ones(12),
        row_lower=np.array([6.0, -np.inf, -np.inf]),
        row_upper=np.array([6.0, 3.5, 3.5]),
        rows=np.repeat(np.arange(3), 12),
        columns=np.tile(np.arange(12), 3),
        values=np.concatenate([np.ones(12), weights.ravel()]),
        integer=np.ones(12, bool),
    )
    return program, best


@pytest.mark.parametrize("seed", range(20))
def test_a_cutoff_hides_nothing_better(seed: int) -> None:
    program, best = knapsack(seed)
    assert np.isfinite(best)
    free = solve(program)
    assert free.optimal
    assert free.objective == pytest.approx(best)
    below = solve(program, cutoff=best - 1e-4)
    assert below.feasible
    assert below.objective == pytest.approx(best)
    above = solve(program, cutoff=best + 1e-4)
    assert above.optimal
    assert above.bound <= best + 1e-4 + 1e-9


def test_a_start_and_few_nodes_still_give_a_bound() -> None:
    program, best = knapsack(1)
    start = solve(program).x
    limited = solve(program, max_nodes=0, start=start)
    assert limited.feasible
    assert limited.bound >= best - 1e-9
