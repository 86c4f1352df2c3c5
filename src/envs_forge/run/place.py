"""Places of a run and the draws at them: N slots, each given a choice by a plan, each choice drawn a few times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict

from envs_forge.plan.model import Choice, Plan
from envs_forge.synthesis.generator import Assignment, attempt_name


@dataclass(frozen=True)
class Place:
    """One of the N slots, with what the plan of this number wants there."""

    slot: int
    plan: int
    choice: Choice
    recipe: str

    def draw(self, number: int, repair: int = 0) -> Draw:
        """The draw of this number at this place, from 0, or the repair of this number of it, from 1."""
        return Draw(self.slot, self.plan, number, self.choice, self.recipe, repair)


@dataclass(frozen=True)
class Draw:
    """One try at a place: a draw, or a repair of it.

    `key` is its identity in the ledger, `name` the same for people and directories.
    """

    slot: int
    plan: int
    number: int
    choice: Choice
    recipe: str
    repair: int = 0

    @property
    def key(self) -> dict[str, Any]:
        """Columns of the ledger's key."""
        return {"slot": self.slot, "plan": self.plan, "draw": self.number, "repair": self.repair}

    @property
    def name(self) -> str:
        """`003-p0-d1`: slot 3, plan 0, draw 1; with `-r2` behind it the second repair of that draw."""
        return attempt_name(self.slot, self.plan, self.number, self.repair)

    @property
    def assignment(self) -> Assignment:
        """What the generator is told."""
        told = self.choice.model_dump(include=set(Assignment.model_fields) & set(Choice.model_fields))
        return Assignment(
            slot=self.slot, plan=self.plan, draw=self.number, repair=self.repair, recipe=self.recipe, **told
        )


class NumberedPlan(BaseModel):
    """A plan of the run. `slots` maps each place that was open to the index of its choice."""

    model_config = ConfigDict(frozen=True)

    number: int
    plan: Plan
    slots: Mapping[int, int]

    def places(self) -> list[Place]:
        """The places that this plan filled, in the order of their slots."""
        recipe = str(self.plan.recipe)
        return [
            Place(slot, self.number, self.plan.choices[index], recipe) for slot, index in sorted(self.slots.items())
        ]


class Made(BaseModel):
    """What a generator answered at one draw: a candidate, or the code and evidence of why there is none."""

    model_config = ConfigDict(frozen=True)

    assignment: Assignment
    generator: str
    candidate: str | None = None
    """Name of the directory under `candidates/`."""
    content_hash: str | None = None
    realised: tuple[str, ...] = ()
    detail: Mapping[str, Any] = {}
    code: str = ""
    evidence: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    seconds: float
    repairs: str | None = None
    """Name of the attempt that this one repairs."""
