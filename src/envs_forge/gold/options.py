"""How bundles are verified."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, NonNegativeInt


class VerifyOptions(BaseModel):
    """Settings of one verification; they are part of what a verdict depends on."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)

    stages: tuple[str, ...] = ()
    """Names of the stages to run, with what they need; empty for all."""
    all_findings: bool = False
    """Whether to go on after a stage that did not pass, with those that can still run."""
    oracle_runs: int = Field(default=3, ge=1)
    """Fresh sandboxes in which the solution must get the full reward: the first in `oracle`, the others, in changed
    surroundings, in `repeat`."""
    untouched_max: float = Field(default=0.0, ge=0.0, lt=1.0)
    """The most that the untouched environment may score, for tests with partial rewards."""
    mutants: int = Field(default=12, ge=0)
    """Changed solutions that are tried at most."""
    survivors_max: float = Field(default=0.5, ge=0.0, le=1.0)
    """Share of them that may get the full reward; beyond it our own bundles are rejected, others get a warning."""
    retries: NonNegativeInt = 1
    """Further tries at a stage that the machine spoilt."""
    pause_s: NonNegativeFloat = 1.0
    """Seconds before each of them."""

    @property
    def essence(self) -> dict[str, Any]:
        """What a verdict depends on: everything but how often the machine may fail."""
        return self.model_dump(mode="json", exclude={"retries", "pause_s"})
