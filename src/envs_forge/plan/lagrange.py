"""The Lagrangian bound: what a plan could be worth at most, for any prices of the quotas.

Moving the quotas into the objective with prices μ leaves a problem without coupling: each candidate has the value
`val = F + Σ_required μ + Σ_optional max(μ − ε, 0)`, and the best plan takes each seed's best candidate and the `size`
best of those. Hence, for every μ ≥ 0 (and ≤ λ where the slack is not limited),

    UB(μ) = Σ top-`size` of val − μ·m + Σ max(μ − λ, 0)·limit

is no less than the value of any plan. Computed in double precision from the data, it needs no trust in a solver.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from envs_forge.plan.problem import Floats, Ints, Problem, Skills


@dataclass(frozen=True)
class Pricing:
    """Every seed seen at some prices.

    Attributes:
        best: (S,) value of each seed's best candidate; −inf where none is allowed.
        action: (S,) which one that is; the first of equals.
        bound: UB(μ).
        threshold: Value of the last draw that enters the plan: what one more draw is worth, roughly.
    """

    best: Floats
    action: Ints
    bound: float
    threshold: float


def clip_prices(problem: Problem, prices: Floats) -> Floats:
    """The nearest prices for which the bound holds."""
    top = np.where(np.isinf(problem.limits), problem.penalty, np.inf)
    return np.clip(prices, 0.0, top)


def values(problem: Problem, prices: Floats) -> Floats:
    """(S, A) value of each candidate at these prices; −inf where it is not allowed."""
    total = problem.scores + _sum(prices, problem.required, problem.scores.shape)
    total += _sum(np.maximum(prices - problem.epsilon, 0.0), problem.optional, problem.scores.shape)
    total[~problem.allowed] = -np.inf
    return total


def price(problem: Problem, prices: Floats) -> Pricing:
    """Value every seed at valid prices (see `clip_prices`) and bound what any plan is worth."""
    total = values(problem, prices)
    action = total.argmax(axis=1)
    best = total[np.arange(problem.seeds), action]
    top, threshold = _top(best, problem.capacity, problem.size)
    over = np.maximum(prices - problem.penalty, 0.0)
    limits = np.where(over > 0, problem.limits, 0.0)
    return Pricing(best, action, float(top - prices @ problem.quotas + over @ limits), threshold)


def _sum(prices: Floats, skills: Skills, shape: tuple[int, ...]) -> Floats:
    """Sum of the prices of each row's skills, column by column to save memory. Padding points at a price of 0."""
    padded = np.append(prices, 0.0)
    total = np.zeros(shape[0] * shape[1])
    for column in range(skills.shape[1]):
        total += padded[skills[:, column]]
    return total.reshape(shape)


def _top(best: Floats, capacity: Ints, size: int) -> tuple[float, float]:
    """Sum of the `size` best draws and the value of the last of them."""
    usable = np.flatnonzero((capacity > 0) & np.isfinite(best))
    keep = min(size, usable.size)
    if keep < usable.size:
        usable = usable[np.argpartition(-best[usable], keep - 1)[:keep]]
    usable = usable[np.argsort(-best[usable], kind="stable")]
    filled = np.cumsum(np.minimum(capacity[usable], size))
    taken = np.minimum(np.diff(np.minimum(filled, size), prepend=0), size)
    last = int(np.searchsorted(filled, size))
    return float(best[usable] @ taken), float(best[usable[min(last, usable.size - 1)]])
