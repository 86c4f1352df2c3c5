"""Predicted against measured pass rates, in figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from envs_forge.plan.frontier import Array, posterior_mean, shifts
from envs_forge.plan.model import ACTIONS
from envs_forge.plan.settings import FrontierConfig
from envs_forge.plan.transition.model import ActionFigures, Child

ALL = "all"


def figures(children: Sequence[Child]) -> dict[str, ActionFigures]:
    """By action, those that have children, and `all`."""
    groups = {str(action): [child for child in children if child.action == action] for action in ACTIONS}
    found = {name: _figures(group) for name, group in groups.items() if group}
    return {**found, ALL: _figures(children)}


def foretold(children: Sequence[Child], config: FrontierConfig) -> list[Child]:
    """The same children with what `config` would have said of each: E[clip(θ + shift, 0, 1)] over the seed's posterior.

    That is what a plan with expected scores believes; `predicted` of a plan is the published clip(k/n + shift, 0, 1),
    which takes a seed that failed all of few rollouts for hopeless.
    """
    own = dict(zip(ACTIONS, shifts(config), strict=True))
    told = np.zeros(len(children))
    for action in ACTIONS:
        places = [place for place, child in enumerate(children) if child.action == action]
        k = np.array([children[place].k for place in places], dtype=float)
        n = np.array([children[place].n for place in places], dtype=float)
        if places:
            told[places] = posterior_mean(k, n, config, partial(_moved, shift=own[action]))
    return [replace(child, predicted=float(p)) for child, p in zip(children, told, strict=True)]


def _moved(theta: Array, shift: float) -> Array:
    return np.clip(theta + shift, 0.0, 1.0)


def _figures(children: Sequence[Child]) -> ActionFigures:
    if not children:
        return ActionFigures(
            children=0, rollouts=0, predicted=None, measured=None, error=None, brier=None, slope=None, mixed=None
        )
    p = np.array([child.predicted for child in children])
    k = np.array([child.child_k for child in children], dtype=float)
    n = np.array([child.child_n for child in children], dtype=float)
    rate = k / n
    # Rewards of single rollouts are 0 or 1 unless tests give partial ones, whose squares the sums do not hold.
    squares = k * (1 - p) ** 2 + (n - k) * p**2
    several = n >= 2
    mixed = (rate > 0) & (rate < 1)
    return ActionFigures(
        children=len(children),
        rollouts=int(n.sum()),
        predicted=float(p.mean()),
        measured=float(rate.mean()),
        error=float(np.abs(p - rate).mean()),
        brier=float(squares.sum() / n.sum()),
        slope=_slope(p, rate, n),
        mixed=float(mixed[several].mean()) if several.any() else None,
    )


def _slope(p: np.ndarray, rate: np.ndarray, weight: np.ndarray) -> float | None:
    """Weighted least squares; None where all predictions are equal."""
    centred = p - np.average(p, weights=weight)
    spread = float((weight * centred**2).sum())
    if spread < 1e-12:
        return None
    return float((weight * centred * (rate - np.average(rate, weights=weight))).sum() / spread)
