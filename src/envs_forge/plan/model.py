"""The decision problem and its answer, as data. Knows only numbers, names and skills."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from pydantic import BaseModel, ConfigDict


class Projection(StrEnum):
    """What happens to the difficulty."""

    INCREASE = "increase"
    DIVERSIFY = "diversify"
    REDUCE = "reduce"


class Direction(StrEnum):
    """Where the change goes: the same skill chain, or adjacent skills."""

    IN_DEPTH = "in_depth"
    IN_BREADTH = "in_breadth"


class Action(BaseModel):
    """One of the six actions. Written and hashed as `increase/in_depth`."""

    model_config = ConfigDict(frozen=True)

    projection: Projection
    direction: Direction

    def __str__(self) -> str:
        return f"{self.projection.value}/{self.direction.value}"


ACTIONS: tuple[Action, ...] = tuple(Action(projection=p, direction=d) for p in Projection for d in Direction)


class CandidateSkills(BaseModel):
    """Skills of a candidate: `required` must show in instruction and tests, `optional` may be exercised."""

    model_config = ConfigDict(frozen=True)

    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()


class SeedInput(BaseModel):
    """What the planner knows of one seed.

    Attributes:
        id: Name for people.
        content_hash: Identity; ties are broken by it.
        k: Sum of the rewards over `n` counted rollouts.
        n: Counted rollouts.
        skills: Skills of the candidate of each eligible action, keyed by `str(action)`. A missing action is ineligible.
        ineligible: Reason for each ineligible action, keyed by `str(action)`.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    content_hash: str
    k: float
    n: int
    skills: Mapping[str, CandidateSkills]
    ineligible: Mapping[str, str] = {}


class Forbidden(BaseModel):
    """What must not be drawn any more: one action on a seed, or with `action=None` the whole seed."""

    model_config = ConfigDict(frozen=True)

    seed_id: str
    action: Action | None = None


class Choice(BaseModel):
    """One chosen draw of a candidate."""

    model_config = ConfigDict(frozen=True)

    seed_id: str
    seed_hash: str
    action: Action
    pass_rate: float
    k: float
    n: int
    predicted: float
    frontier_score: float
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    """Optional skills that the plan counts on for this choice."""
    fixed: bool = False
    """Already accepted before this plan was made; counted towards N and the quotas."""


class QuotaReport(BaseModel):
    """One skill's quota: asked, reachable within the eligible candidates, met by required and by optional uses."""

    model_config = ConfigDict(frozen=True)

    skill: str
    asked: int
    reachable: int
    required_uses: int
    optional_uses: int
    short: int
    price: float = 0.0
    """What one more unit of this quota costs, in units of F (the dual of its row)."""


class Plan(BaseModel):
    """Exactly `size` choices and the proof of how good they are. Checked by an independent evaluator.

    `objective` = Σ frontier scores − ε · optional uses of new choices − λ · missing uses, over all choices, fixed ones
    too; no plan with the same fixed choices can be worth more than `bound`.
    """

    model_config = ConfigDict(frozen=True)

    schema_version: int = 1
    size: int
    recipe: str
    choices: tuple[Choice, ...]
    quotas: tuple[QuotaReport, ...] = ()
    objective: float
    bound: float
    absolute_gap: float
    method: str
    solver: Mapping[str, str] = {}
    seconds: float
    arm: str = "masked"
    scoring: str = "plug-in"
    capacity: int = 1
    """Most draws of one seed, as it was used."""
    eligible: int = 0
    """Seeds with at least one candidate that could be drawn."""
    score_sum: float = 0.0
    """ΣF over the choices."""
    relative_gap: float = 0.0
    """`absolute_gap` / `score_sum`: an objective with penalties in it would make a poor measure."""
    size_price: float = 0.0
    """Value of the last draw that entered, with what the quotas pay for its skills."""
    next_price: float | None = None
    """What one more draw would add, roughly: the value of the first that did not enter. None: there is none left."""
    notes: tuple[str, ...] = ()
    """One line for each thing that the reader should know, e.g. quotas that cannot be reached."""
