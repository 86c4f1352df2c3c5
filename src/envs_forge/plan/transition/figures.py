"""Predicted against measured pass rates, in figures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from envs_forge.plan.model import ACTIONS
from envs_forge.plan.transition.model import ActionFigures, Child

ALL = "all"


def figures(children: Sequence[Child]) -> dict[str, ActionFigures]:
    """By action, those that have children, and `all`."""
    groups = {str(action): [child for child in children if child.action == action] for action in ACTIONS}
    found = {name: _figures(group) for name, group in groups.items() if group}
    return {**found, ALL: _figures(children)}


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
