"""A composition: what a procedural bundle is made of, as data, small enough to live in the bundle's own metadata."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

SPEC_VERSION = 1


class Use(BaseModel):
    """One operation in a chain, with the constraint knobs that are turned on, sorted."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    operation: str
    knobs: tuple[str, ...] = ()


class Composition(BaseModel):
    """A chain of operations in a scenario.

    Parameters, data, wording of the steps and names of files all follow from `number` and the rest, so equal
    compositions give equal bytes. No command and no answer is in here.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: int = SPEC_VERSION
    scenario: str
    """Name of a file under `scenarios/`."""
    number: int = Field(ge=0)
    """The seed number."""
    wording: int = Field(default=0, ge=0)
    """Which of the scenario's and the operations' wordings to begin with."""
    variant: int = Field(default=0, ge=0)
    """Other data and parameters under the same names and wordings."""
    size: int = Field(default=1, ge=1, le=3)
    """How much data: about 12, 24 or 48 records."""
    uses: tuple[Use, ...] = Field(min_length=1)

    @property
    def digest(self) -> str:
        """Twelve hex digits that differ for different compositions."""
        text = json.dumps(self.model_dump(mode="json"), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    @property
    def weight(self) -> int:
        """How much there is to get right; see `chain.weight`."""
        from envs_forge.synthesis.procedural.chain import weight

        return weight(self.uses)


def read_composition(provenance: Mapping[str, Any]) -> Composition | None:
    """The composition in a bundle's provenance; None for a bundle that the procedural generator did not make."""
    table = provenance.get("composition")
    if not isinstance(table, Mapping) or table.get("version") != SPEC_VERSION:
        return None
    try:
        return Composition.model_validate(table)
    except ValueError:
        return None
