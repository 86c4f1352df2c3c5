"""What a user may set about planning: the frontier model, the objective's weights, recipe, arm, scoring, solver.

Frozen data with a docstring under each field, free of numpy, so that configuration loads fast. The defaults of
`FrontierConfig` and of the weights are the method's published constants.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

_ActionName = Annotated[str, Field(pattern=r"^(increase|diversify|reduce)/in_(depth|breadth)$")]
_Shift = Annotated[float, Field(ge=-1, le=1)]


class Recipe(StrEnum):
    """Which actions a plan may use. `recipes.py` holds the masks."""

    FORGE = "forge"
    FEW_SHOT = "few-shot"
    SELF_INSTRUCT = "self-instruct"
    EVOL_INSTRUCT = "evol-instruct"


class Arm(StrEnum):
    """How a recipe is used: the optimiser chooses within its mask, or it goes through the seeds blindly."""

    MASKED = "masked"
    BLIND = "blind"


class Scoring(StrEnum):
    """How the frontier score treats a rate that was measured `n` times only."""

    PLUG_IN = "plug-in"
    POSTERIOR = "posterior"


class Solver(StrEnum):
    """How the choice is made. All but `milp` are ablations; they differ from it only where quotas bind."""

    MILP = "milp"
    GREEDY = "greedy"
    ARGMAX = "argmax"


class FrontierConfig(BaseModel):
    """The model of what an action does to a pass rate, and which pass rate is wanted.

    `predicted = clip(p + shift · factor, 0, 1)`, `F = exp(−(predicted − tau)² / (2 · sigma²))`. Shifts and factors
    are a prior: they need calibration against what the children measure.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    shift_increase: float = Field(default=-0.25, ge=-1, le=1)
    """Δ of `increase`: how much the pass rate is expected to move."""
    shift_diversify: float = Field(default=0.0, ge=-1, le=1)
    """Δ of `diversify`."""
    shift_reduce: float = Field(default=0.25, ge=-1, le=1)
    """Δ of `reduce`."""
    factor_in_depth: float = Field(default=1.0, ge=0, le=4)
    """γ of `in_depth`, a change within the same skill chain."""
    factor_in_breadth: float = Field(default=0.65, ge=0, le=4)
    """γ of `in_breadth`, a change towards adjacent skills."""
    shifts: Mapping[_ActionName, _Shift] = {}
    """Shifts of single actions, e.g. `reduce/in_breadth`, that take the place of Δ·γ."""
    tau: float = Field(default=0.5, ge=0, le=1)
    """τ: the pass rate at which a task teaches most. Values below 0.5 ask for harder tasks."""
    sigma: float = Field(default=0.2, gt=0, allow_inf_nan=False)
    """σ: how quickly a task loses its worth away from τ."""

    def __hash__(self) -> int:
        # A table has no hash of its own, and settings are keys of caches.
        return hash((frozenset(self.shifts.items()), *(value for name, value in self if name != "shifts")))


class PlanSettings(BaseModel):
    """Everything about a plan except the seeds and what has happened to them already."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    size: int = 100
    """N: how many draws the plan chooses, those that are fixed already among them."""
    recipe: Recipe = Recipe.FORGE
    """Mask of the actions."""
    arm: Arm = Arm.MASKED
    """`masked`: optimise within the mask. `blind`: seeds in a seeded random order, no measurement used."""
    solver: Solver = Solver.MILP
    """`milp` proves its plan; `greedy` and `argmax` are there to show what that buys."""
    scoring: Scoring = Scoring.POSTERIOR
    """`posterior`: expected F under Beta(k + ½, n − k + ½). `plug-in`: F of the measured rate, as published."""
    frontier: FrontierConfig = FrontierConfig()
    """Δ, γ, τ and σ."""
    quotas: Literal["uniform"] | Mapping[str, float] = {}
    """Least number of uses of a skill. Below 1 it is a share of N, from 1 on a whole number; `uniform` asks of each
    skill in the pool the same number, what the pool's mean load would give when spread evenly."""
    capacity: int | None = Field(default=None, ge=1)
    """Most draws of one seed. None: 1, or as many as N needs when it exceeds the eligible seeds."""
    epsilon: float = Field(default=1e-6, ge=0, allow_inf_nan=False)
    """ε: what it costs to count an optional skill."""
    penalty: float = Field(default=0.25, ge=0, allow_inf_nan=False)
    """λ: what each missing use of a quota costs."""
    slack_cap: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Most that a quota may be missed by, as a share of the quota. None: no limit. Beyond it there is no plan."""
    seed: int = 0
    """Random number seed of the `blind` arm."""
    group: int = Field(default=8, ge=2)
    """G: rollouts in a training group, for the probability that its rewards differ."""
