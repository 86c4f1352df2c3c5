"""How the builtin learner learns. All of it is part of what a training's outcome depends on."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class LearnerSettings(BaseModel):
    """Constants of the learner."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    group: int = Field(default=8, ge=2)
    """G: rollouts of one task whose rewards are compared."""
    batch: int = Field(default=8, ge=1)
    """Groups that a step rests on."""
    epochs: int = Field(default=1, ge=1)
    """How often every task is visited."""
    groups: int | None = Field(default=None, ge=1)
    """So many groups in all, whatever the epochs: tasks are visited again and again until then."""
    rate: float = Field(default=8.0, gt=0, allow_inf_nan=False)
    """Learning rate: what the mean gradient over a batch is multiplied by."""
    scaled: bool = True
    """Whether advantages are divided by the standard deviation of their group."""
    seed: int = 0
    """Number that the order of tasks and the choices of the policy start from."""
