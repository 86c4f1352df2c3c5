"""How bundles are verified."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, NonNegativeInt


class VerifyOptions(BaseModel):
    """Settings of one verification; they are part of what a verdict depends on."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)

    oracle_runs: int = Field(default=2, ge=1)
    """Fresh sandboxes in which the solution must get the full reward."""
    untouched_max: float = Field(default=0.0, ge=0.0, lt=1.0)
    """The most that the untouched environment may score, for tests with partial rewards."""
    retries: NonNegativeInt = 1
    """Further tries at a stage that the machine spoilt."""
    pause_s: NonNegativeFloat = 1.0
    """Seconds before each of them."""
