"""Learns Δ, γ and the shift of each action from measured children, shrunk to the prior.

A hierarchical model, solved exactly on a grid:

    θ ~ Beta(k + ½, n − k + ½)          the seed's rate, as measured
    δ ~ N(Δ_a·γ_d, 0.1²)                 the action's own shift, around the product
    m = clip(θ + δ, 0, 1)                what the action makes of it on average
    c ~ Beta(κ·m', κ·(1 − m'))           the child's own rate; m' is m kept 0.01 away from 0 and 1
    k' ~ Binomial(n', c)                 what the child measured
    Δ_a ~ N(prior, 0.15²), γ_breadth ~ N(0.65, 0.25²) on [0, 1.5], log κ ~ N(log 6, 1)

An action enters the likelihood only through its shift δ, so one table of log-likelihoods by action, κ and δ is enough;
given γ and κ the three Δ are independent, and every sum over the grid is exact. Products of Δ and γ alone cannot say
that `reduce` does much in breadth and little in depth while `increase` does the same in both; the own shifts can.

The seed's rate is integrated over, not plugged in: a seed that was chosen because it failed every time is probably not
hopeless, and taking its 0 for the truth would credit `reduce` with what is regression to the mean.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from envs_forge.plan.frontier import shifts
from envs_forge.plan.model import ACTIONS, Action, Direction, Projection
from envs_forge.plan.settings import FrontierConfig
from envs_forge.plan.transition.model import Child, Estimate, Transition

Array = NDArray[np.float64]

SHIFT_SD, FACTOR_SD, ACTION_SD = 0.15, 0.25, 0.1
KAPPA_MEDIAN, KAPPA_LOG_SD = 6.0, 1.0
_SHIFTS = np.linspace(-1.0, 1.0, 201)
_FACTORS = np.linspace(0.0, 1.5, 61)
_KAPPAS = KAPPA_MEDIAN * np.exp(np.linspace(-2.0, 2.0, 9))
_MEANS = np.linspace(0.0, 1.0, 101)
_EDGE = 0.01
_ANGLES = 64
_AROUND = np.exp(-0.5 * ((_SHIFTS - _SHIFTS[:, None]) / ACTION_SD) ** 2)
_AROUND /= _AROUND.sum(axis=1, keepdims=True)
"""(D, D): a row is how δ spreads around one value of Δ·γ."""


def learn(children: Sequence[Child], prior: FrontierConfig) -> Transition:
    """The posterior of Δ, γ and δ.

    Args:
        children: Measured ones, in any order; without any the posterior is the prior.
        prior: Its shifts are the prior's means, its factor of `in_breadth` too.
    """
    by_shift = {action: _table([child for child in children if child.action == action]) for action in ACTIONS}
    tables = {action: _blurred(table) for action, table in by_shift.items()}
    centres = {
        Projection.INCREASE: prior.shift_increase,
        Projection.DIVERSIFY: prior.shift_diversify,
        Projection.REDUCE: prior.shift_reduce,
    }
    log_shift = {projection: _normal(_SHIFTS, centre, SHIFT_SD) for projection, centre in centres.items()}
    # (K, G, D): the log posterior of each Δ given κ and γ, up to a constant that is shared by all.
    given = {
        projection: np.array(
            [[_of(projection, tables, at, factor) for factor in _FACTORS] for at in range(_KAPPAS.size)]
        )
        + log_shift[projection]
        for projection in Projection
    }
    evidence = sum(_log_sum(table) for table in given.values())
    joint = (
        evidence
        + _normal(_FACTORS, prior.factor_in_breadth, FACTOR_SD)
        + _normal(np.log(_KAPPAS), math.log(KAPPA_MEDIAN), KAPPA_LOG_SD)[:, None]
    )
    weight = _normalised(joint)
    posterior = {projection: weight[:, :, None] * _normalised(table, axis=2) for projection, table in given.items()}
    shift = {projection: _moments(_SHIFTS, parts.sum(axis=(0, 1))) for projection, parts in posterior.items()}
    counts = {action: sum(child.action == action for child in children) for action in ACTIONS}
    before = dict(zip(ACTIONS, shifts(prior), strict=True))
    factor = {Direction.IN_DEPTH: 1.0, Direction.IN_BREADTH: prior.factor_in_breadth}
    return Transition(
        shift_increase=_estimate(shift[Projection.INCREASE], prior.shift_increase, SHIFT_SD),
        shift_diversify=_estimate(shift[Projection.DIVERSIFY], prior.shift_diversify, SHIFT_SD),
        shift_reduce=_estimate(shift[Projection.REDUCE], prior.shift_reduce, SHIFT_SD),
        factor_in_breadth=_estimate(_moments(_FACTORS, weight.sum(axis=0)), prior.factor_in_breadth, FACTOR_SD),
        concentration=float((weight.sum(axis=1) * _KAPPAS).sum()),
        actions={
            str(action): _estimate(
                _own(action, by_shift[action], posterior[action.projection]),
                before[action],
                math.hypot(SHIFT_SD * factor[action.direction], ACTION_SD),
            )
            for action in ACTIONS
            if counts[action]
        },
        children={str(action): count for action, count in counts.items() if count},
    )


def _of(projection: Projection, tables: Mapping[Action, Array], kappa: int, factor: float) -> Array:
    """Log-likelihood (D,) of all children of a projection, by its Δ."""
    deep = tables[Action(projection=projection, direction=Direction.IN_DEPTH)][kappa]
    broad = tables[Action(projection=projection, direction=Direction.IN_BREADTH)][kappa]
    return np.asarray(deep + np.interp(_SHIFTS * factor, _SHIFTS, broad))


def _table(children: Sequence[Child]) -> Array:
    """Log-likelihood (K, D) of children by κ and δ."""
    total = np.zeros((_KAPPAS.size, _SHIFTS.size))
    for child in children:
        theta, weights = _seed_rate(child.k, child.n)
        means = np.clip(theta[:, None] + _SHIFTS, 0.0, 1.0)
        for at, kappa in enumerate(_KAPPAS):
            by_mean = np.exp(_beta_binomial(child.child_k, child.child_n, float(kappa)))
            total[at] += np.log(weights @ np.interp(means, _MEANS, by_mean) + 1e-300)
    return total


def _blurred(table: Array) -> Array:
    """Log-likelihood (K, D) by κ and Δ·γ, from one by κ and δ."""
    top = table.max(axis=1, keepdims=True)
    return np.asarray(np.log(np.exp(table - top) @ _AROUND.T + 1e-300) + top)


def _own(action: Action, table: Array, weights: Array) -> tuple[float, float]:
    """Mean and standard deviation of an action's δ, from its table (K, D) and the posterior (K, G, D) of κ, γ and Δ."""
    factors = _FACTORS if action.direction is Direction.IN_BREADTH else np.ones_like(_FACTORS)
    mean = square = 0.0
    for at, likelihood in enumerate(np.exp(table - table.max(axis=1, keepdims=True))):
        parts = _AROUND * likelihood
        total = parts.sum(axis=1) + 1e-300
        first, second = parts @ _SHIFTS / total, parts @ _SHIFTS**2 / total
        products = _SHIFTS * factors[:, None]
        mean += float((weights[at] * np.interp(products, _SHIFTS, first)).sum())
        square += float((weights[at] * np.interp(products, _SHIFTS, second)).sum())
    return mean, math.sqrt(max(0.0, square - mean**2))


def _seed_rate(k: float, n: int) -> tuple[Array, Array]:
    """Nodes and weights of Beta(k + ½, n − k + ½), with θ = sin²φ as in `frontier`."""
    phi = (np.arange(_ANGLES) + 0.5) * (0.5 * np.pi / _ANGLES)
    log_density = 2.0 * (k * np.log(np.sin(phi)) + (n - k) * np.log(np.cos(phi)))
    weights = np.exp(log_density - log_density.max())
    return np.sin(phi) ** 2, weights / weights.sum()


def _beta_binomial(k: float, n: int, kappa: float) -> Array:
    """Log-probability, up to a constant, of k of n under Beta(κ·m, κ·(1 − m)), for each m of `_MEANS`."""
    values = []
    for mean in np.clip(_MEANS, _EDGE, 1.0 - _EDGE):
        a, b = kappa * mean, kappa * (1.0 - mean)
        values.append(math.lgamma(a + k) + math.lgamma(b + n - k) - math.lgamma(a) - math.lgamma(b))
    return np.array(values) - (math.lgamma(kappa + n) - math.lgamma(kappa))


def _normal(x: Array, mean: float, sd: float) -> Array:
    return -0.5 * ((x - mean) / sd) ** 2


def _log_sum(table: Array) -> Array:
    top = table.max(axis=-1, keepdims=True)
    return np.asarray(top[..., 0] + np.log(np.exp(table - top).sum(axis=-1)))


def _normalised(logs: Array, axis: int | None = None) -> Array:
    weights = np.exp(logs - logs.max(axis=axis, keepdims=True))
    return np.asarray(weights / weights.sum(axis=axis, keepdims=True))


def _moments(values: Array, weights: Array) -> tuple[float, float]:
    mean = float((weights * values).sum())
    return mean, math.sqrt(max(0.0, float((weights * (values - mean) ** 2).sum())))


def _estimate(moments: tuple[float, float], prior_mean: float, prior_sd: float) -> Estimate:
    return Estimate(mean=moments[0], sd=moments[1], prior_mean=prior_mean, prior_sd=prior_sd)
