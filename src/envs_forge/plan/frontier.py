"""Frontier scores: how close an action is expected to bring a seed to the pass rate that teaches most.

Shapes: S seeds, A = 6 actions in the order of `ACTIONS`; `k` (S,) sums of rewards over `n` (S,) rollouts.

    predicted   p̃ = clip(k/n + Δ_a·γ_d, 0, 1)   (or an action's own shift in the place of Δ·γ)
    plug-in     F(p̃) = exp(−(p̃ − τ)² / 2σ²)
    posterior   E[F] over θ ~ Beta(k + ½, n − k + ½), with θ in the place of k/n
    regret      E[max over actions of F − F of this action] over the same θ
    mixed       1 − p̃^G − (1 − p̃)^G, or its expectation: a group of G rollouts is not all equal

Integrals over θ use θ = sin²φ, under which the density of Beta(k + ½, n − k + ½) is sin²ᵏφ·cos²⁽ⁿ⁻ᵏ⁾φ, smooth at both
ends, and Gauss–Legendre nodes between all kinks of the integrands, so one matrix of weights serves every quantity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from envs_forge.plan.model import ACTIONS, Direction, Projection
from envs_forge.plan.settings import FrontierConfig, Scoring

Array = NDArray[np.float64]

DECIMALS = 12
"""Scores are rounded to this many decimals, so that what ties on paper ties in memory."""

_BUCKETS = (16, 256, 4096, 65536)
_CHUNK = 1 << 22
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)


def shifts(config: FrontierConfig) -> Array:
    """Shift of each action, shape (A,): its own where the config has one, else Δ_a·γ_d."""
    delta = {
        Projection.INCREASE: config.shift_increase,
        Projection.DIVERSIFY: config.shift_diversify,
        Projection.REDUCE: config.shift_reduce,
    }
    gamma = {Direction.IN_DEPTH: config.factor_in_depth, Direction.IN_BREADTH: config.factor_in_breadth}
    products = {str(action): delta[action.projection] * gamma[action.direction] for action in ACTIONS}
    return np.array([config.shifts.get(name, product) for name, product in products.items()])


def predict(rates: Array, config: FrontierConfig) -> Array:
    """Predicted pass rates (S, A) of the candidates of seeds with these pass rates (S,)."""
    return np.clip(np.asarray(rates, dtype=np.float64)[:, None] + shifts(config), 0.0, 1.0)


def frontier_score(predicted: Array, config: FrontierConfig) -> Array:
    """F of predicted pass rates, elementwise."""
    return np.asarray(np.exp(-((predicted - config.tau) ** 2) / (2.0 * config.sigma**2)))


def scores(k: Array, n: Array, config: FrontierConfig, scoring: Scoring) -> Array:
    """Score of each candidate (S, A), plug-in or expected, rounded so that ties are exact."""
    if scoring is Scoring.PLUG_IN:
        return np.round(frontier_score(predict(np.asarray(k) / np.asarray(n), config), config), DECIMALS)
    distinct, column = np.unique(shifts(config), return_inverse=True)

    def score_at(theta: Array) -> Array:
        return frontier_score(np.clip(theta[:, None] + distinct, 0.0, 1.0), config)

    # Equal shifts share one column, so that the two directions of `diversify` tie to the last bit.
    return np.round(_expect(k, n, config, score_at, distinct.size), DECIMALS)[:, column]


def expected_regret(k: Array, n: Array, config: FrontierConfig, allowed: NDArray[np.bool_] | None = None) -> Array:
    """What choosing an action is expected to lose against the best allowed one, if θ were known. Shape (S, A).

    Equal predictions have equal regret, so the two directions of `diversify` count as one action. `allowed` (S, A)
    leaves out ineligible actions; without any, a seed's regret is 0.
    """
    k, n = np.asarray(k, dtype=np.float64), np.asarray(n, dtype=np.float64)
    usable = np.ones((k.size, len(ACTIONS)), bool) if allowed is None else np.asarray(allowed, bool)
    result = np.zeros((k.size, len(ACTIONS)))
    patterns, member = np.unique(usable, axis=0, return_inverse=True)
    for index, pattern in enumerate(patterns):
        rows = np.flatnonzero(member.ravel() == index)
        if pattern.any():
            result[rows] = _expect(k[rows], n[rows], config, _regret_against(pattern, config), len(ACTIONS))
    return result


def _regret_against(pattern: NDArray[np.bool_], config: FrontierConfig) -> Callable[[Array], Array]:
    def regret_at(theta: Array) -> Array:
        values = frontier_score(predict(theta, config), config)
        return np.asarray(values[:, pattern].max(axis=1, keepdims=True) - values)

    return regret_at


def mixed_probability(predicted: Array, group: int) -> Array:
    """Probability that `group` rollouts with this pass rate are neither all failures nor all successes."""
    return np.asarray(1.0 - predicted**group - (1.0 - predicted) ** group)


def expected_mixed_probability(k: Array, n: Array, config: FrontierConfig, group: int) -> Array:
    """`mixed_probability` of each candidate (S, A), averaged over the posterior of the seed's rate."""
    return _expect(k, n, config, lambda theta: mixed_probability(predict(theta, config), group), len(ACTIONS))


def posterior_mean(k: Array, n: Array, config: FrontierConfig, function: Callable[[Array], Array]) -> Array:
    """E[function(θ)] for each seed, shape (S,); `function` maps (Q,) to (Q,) and has no kinks but the model's own."""
    return _expect(k, n, config, lambda theta: function(theta)[:, None], 1)[:, 0]


def _expect(k: Array, n: Array, config: FrontierConfig, function: Callable[[Array], Array], width: int) -> Array:
    """E[function(θ)] of each row, for a `function` from (Q,) to (Q, width). Equal (k, n) are worked out once."""
    pairs = np.stack([np.asarray(k, np.float64), np.asarray(n, np.float64)], axis=1)
    distinct, member = np.unique(pairs, axis=0, return_inverse=True)
    result = np.empty((len(distinct), width))
    for rows, panels in _buckets(distinct[:, 1]):
        phi, quadrature = _nodes(panels, config)
        values = function(np.sin(phi) ** 2)
        step = max(1, _CHUNK // phi.size)
        for start in range(0, rows.size, step):
            part = rows[start : start + step]
            weights = _weights(distinct[part, 0], distinct[part, 1], phi, quadrature)
            result[part] = weights @ values
    return result[member.ravel()]


def _buckets(n: Array) -> Iterator[tuple[NDArray[np.intp], int]]:
    """Rows with similar n and how many panels resolve their posteriors, whose width in φ is 1 / (2·√n)."""
    bucket = np.searchsorted(_BUCKETS[:-1], n, side="left")
    for index, most in enumerate(_BUCKETS):
        rows = np.flatnonzero(bucket == index)
        if rows.size:
            yield rows, int(np.ceil(0.5 * np.pi * np.sqrt(most + 1.0)))


def _weights(k: Array, n: Array, phi: Array, quadrature: Array) -> Array:
    """Normalised posterior weights (rows, Q) at the nodes."""
    # Beyond the finest grid a posterior is taken as wide as the last that it resolves: a width of 0.002.
    scale = np.minimum(1.0, _BUCKETS[-1] / n)
    successes, failures = k * scale, (n - k) * scale
    log_density = 2.0 * (np.outer(successes, np.log(np.sin(phi))) + np.outer(failures, np.log(np.cos(phi))))
    log_density -= log_density.max(axis=1, keepdims=True)
    weights = np.exp(log_density) * quadrature
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _nodes(panels: int, config: FrontierConfig) -> tuple[Array, Array]:
    """Gauss–Legendre nodes and weights over φ in (0, π/2), with panel edges at every kink."""
    edges = np.concatenate([np.linspace(0.0, 0.5 * np.pi, panels + 1), np.arcsin(np.sqrt(_kinks(config)))])
    edges = np.unique(np.round(edges, 14))
    half, centre = np.diff(edges) / 2.0, (edges[1:] + edges[:-1]) / 2.0
    return (centre[:, None] + half[:, None] * _NODES).ravel(), (half[:, None] * _WEIGHTS).ravel()


def _kinks(config: FrontierConfig) -> Array:
    """Every θ in (0, 1) where a clip sets in or where two actions change places."""
    distinct, tau = np.unique(shifts(config)), config.tau
    points = [*(-distinct), *(1.0 - distinct)]
    points += [*(2.0 * tau - distinct), *(2.0 * tau - 1.0 - distinct)]
    points += [tau - (a + b) / 2.0 for a, b in combinations(distinct, 2)]
    inside = np.array(points)
    return inside[(inside > 0.0) & (inside < 1.0)]
