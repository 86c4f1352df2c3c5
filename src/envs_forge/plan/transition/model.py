"""Children that were measured, and what was learned from them, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from envs_forge.plan.model import Action
from envs_forge.plan.settings import FrontierConfig


@dataclass(frozen=True, slots=True)
class Child:
    """One environment whose pass rate was measured: `k` of `n` on its seed, `child_k` of `child_n` on itself."""

    action: Action
    k: float
    n: int
    child_k: float
    child_n: int
    predicted: float


class Estimate(BaseModel):
    """One parameter: mean and standard deviation of its posterior, and the prior's."""

    model_config = ConfigDict(frozen=True)

    mean: float
    sd: float
    prior_mean: float
    prior_sd: float


class Transition(BaseModel):
    """What was learned about Δ, γ and the shifts of single actions.

    γ of `in_depth` is 1 by definition: only products of Δ and γ can be told apart. `concentration` is κ, how alike the
    children of one action are: each child's own rate spreads around the predicted one as Beta(κ·m, κ·(1 − m)).
    """

    model_config = ConfigDict(frozen=True)

    schema_version: int = 2
    shift_increase: Estimate
    shift_diversify: Estimate
    shift_reduce: Estimate
    factor_in_breadth: Estimate
    concentration: float
    actions: Mapping[str, Estimate] = {}
    """The own shift of each action that has measured children."""
    children: Mapping[str, int]
    """Measured children by action."""

    def frontier(self, config: FrontierConfig) -> FrontierConfig:
        """`config` with what was learned in the place of its Δ, γ and shifts."""
        return config.model_copy(
            update={
                "shift_increase": self.shift_increase.mean,
                "shift_diversify": self.shift_diversify.mean,
                "shift_reduce": self.shift_reduce.mean,
                "factor_in_depth": 1.0,
                "factor_in_breadth": self.factor_in_breadth.mean,
                "shifts": {action: estimate.mean for action, estimate in self.actions.items()},
            }
        )


class ActionFigures(BaseModel):
    """How predictions of one action, or of all, compare with what was measured. None where nothing was.

    Attributes:
        children: Measured children.
        rollouts: Rollouts on them.
        predicted: Mean prediction.
        measured: Mean measured rate.
        error: Mean absolute error of the predictions against the measured rates, the noise of these included.
        brier: Mean squared error of the prediction against single rollouts.
        slope: Least-squares slope of measured on predicted, weighted by rollouts; 1 is calibrated.
        mixed: Share of children whose rollouts were not all equal.
    """

    model_config = ConfigDict(frozen=True)

    children: int
    rollouts: int
    predicted: float | None
    measured: float | None
    error: float | None
    brier: float | None
    slope: float | None
    mixed: float | None
