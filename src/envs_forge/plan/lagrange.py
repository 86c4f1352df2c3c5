"""The Lagrangian bound: what a plan could be worth at most, for any prices of the quotas.

Moving the quotas into the objective with prices μ leaves a problem without coupling: each candidate has the value
`val = F + Σ_required μ + Σ_optional max(μ − ε, 0)`, and the best plan takes each seed's best candidate and the `size`
best of those. Hence, for every μ ≥ 0 (and ≤ λ where the slack is not limited),

    UB(μ) = Σ top-`size` of val − μ·m + Σ max(μ − λ, 0)·limit

is no less than the value of any plan. Where the uses missing in all lie between two numbers, prices may exceed λ, and
the last term becomes the most that `Σ (μ − λ)·ξ` can be within them. Computed in double precision from the data, it
needs no trust in a solver.

With the threshold ν, the value of the last draw that enters, a candidate's *loss* is `max(best of its seed, ν) − val`.
A plan with total loss L is worth at most UB(μ) − L, so a candidate whose loss exceeds `UB(μ) − value of a known plan`
can be in no better plan.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from envs_forge.plan.problem import Floats, Ints, Problem, Skills


@dataclass(frozen=True)
class View:
    """Every seed seen at some prices.

    Attributes:
        prices: (V,) μ.
        action: (S,) each seed's best candidate, the first of equals.
        best: (S,) its value, −inf where none is allowed.
        draws: (S,) draws of the seed in the plan that the prices alone would choose.
        threshold: ν.
        following: Value of the draw that would come next, −inf where there is none.
        loss: (S, A) what a draw of a candidate costs against the bound at least; inf where not allowed.
        bound: UB(μ).
    """

    prices: Floats
    action: Ints
    best: Floats
    draws: Ints
    threshold: float
    following: float
    loss: Floats
    bound: float


def clip_prices(problem: Problem, prices: Floats) -> Floats:
    """The nearest prices for which the bound holds."""
    if problem.missing is not None and np.isfinite(problem.missing[1]):
        return np.maximum(prices, 0.0)
    top = np.where(np.isinf(problem.limits), problem.penalty, np.inf)
    return np.clip(prices, 0.0, top)


def look(problem: Problem, prices: Floats) -> View:
    """See every seed at valid prices (`clip_prices`) and bound what any plan is worth."""
    value = _values(problem, prices)
    action = value.argmax(axis=1)
    best = value[np.arange(problem.seeds), action]
    draws, threshold, following = _fill(best, problem.capacity, problem.size)
    drawn = np.flatnonzero(draws)
    bound = draws[drawn] @ best[drawn] - prices @ problem.quotas + _missing(problem, prices)
    loss = np.subtract(np.maximum(best, threshold)[:, None], value, out=value)
    return View(prices, action, best, draws, threshold, following, loss, float(bound))


def _missing(problem: Problem, prices: Floats) -> float:
    """The most that missing uses can be worth at some prices; −inf where fewer can be missing than must be."""
    gain = prices - problem.penalty
    if problem.missing is None:
        over = np.maximum(gain, 0.0)
        return float(over @ np.where(over > 0, problem.limits, 0.0))
    wanted = problem.quotas > 0
    gain, room = gain[wanted], problem.limits[wanted]
    least, most = problem.missing
    order = np.argsort(-gain, kind="stable")
    gain, filled = gain[order], np.cumsum(room[order])
    if filled.size == 0 or filled[-1] < least:
        return 0.0 if least <= 0 else -np.inf
    # Everything that pays, up to the most; then what pays least badly, up to the least.
    amount = np.diff(np.minimum(filled, np.where(gain > 0, most, least)), prepend=0.0)
    paying = np.maximum(amount, 0.0)
    return float(gain[paying > 0] @ paying[paying > 0])


def _values(problem: Problem, prices: Floats) -> Floats:
    """(S, A) value of each candidate; −inf where it is not allowed."""
    total = problem.scores.ravel().copy()
    _add(total, prices, problem.required)
    _add(total, np.maximum(prices - problem.epsilon, 0.0), problem.optional)
    total[~problem.allowed.ravel()] = -np.inf
    return total.reshape(problem.scores.shape)


def _add(total: Floats, prices: Floats, skills: Skills) -> None:
    """Add the prices of each row's skills, column by column to save memory. Padding points at a price of 0."""
    padded = np.append(prices, 0.0)
    if padded.any():
        for column in range(skills.shape[1]):
            total += padded[skills[:, column]]


def _fill(best: Floats, capacity: Ints, size: int) -> tuple[Ints, float, float]:
    """Draws (S,) when the best seeds are filled first, the earlier of equals first; values of the last and the next."""
    room = np.where(np.isfinite(best), capacity, 0)
    order = np.argsort(-best, kind="stable")
    total = np.cumsum(room[order])
    filled = np.minimum(total, size)
    draws = np.zeros(best.size, np.int64)
    draws[order] = np.diff(filled, prepend=0)
    last = order[min(int(np.searchsorted(filled, size)), order.size - 1)]
    after = int(np.searchsorted(total, size, side="right"))
    return draws, float(best[last]), float(best[order[after]]) if after < order.size else -np.inf
