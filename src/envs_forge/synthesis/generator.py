"""The contract of a generator: an assignment goes in, a whole new bundle comes out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from pydantic import BaseModel, ConfigDict

from envs_forge.bundle.model import Bundle
from envs_forge.plan.model import Action, CandidateSkills

UNREPAIRED = "unrepaired"
"""Code of a repair that is what was rejected, again: who is stuck is not asked a third time."""


class Assignment(BaseModel):
    """One place in the plan: which seed is to be changed how, and what for.

    `slot` counts the N places of a run, `plan` the plans that filled them. `draw` counts the fresh tries at this place;
    two draws of one assignment differ, the same draw gives the same bytes where the generator can. `repair` counts the
    repairs of a draw. `digest` tells how the policy's failing rollouts on the seed failed, `failed` in which share of
    its counted rollouts each test failed.
    """

    model_config = ConfigDict(frozen=True)

    slot: int
    draw: int
    seed_id: str
    seed_hash: str
    action: Action
    recipe: str
    pass_rate: float
    k: float
    n: int
    predicted: float
    frontier_score: float
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    plan: int = 0
    repair: int = 0
    digest: str = ""
    failed: Mapping[str, float] = {}

    @property
    def name(self) -> str:
        """`003-p0-d1`: slot 3, plan 0, draw 1; with `-r2` behind it the second repair of that draw."""
        return attempt_name(self.slot, self.plan, self.draw, self.repair)


def attempt_name(slot: int, plan: int, draw: int, repair: int = 0) -> str:
    """What an attempt is called everywhere: directories, the ledger's calls, logs."""
    return f"{slot:03d}-p{plan}-d{draw}" + (f"-r{repair}" if repair else "")


class Candidate(BaseModel):
    """A generator's answer, not verified yet. `realised` are the skills that the bundle exercises."""

    model_config = ConfigDict(frozen=True)

    bundle: Bundle
    realised: tuple[str, ...] = ()
    detail: Mapping[str, Any] = {}
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class Rejection(BaseModel):
    """Why a generator gave no bundle: a reason code and the evidence."""

    model_config = ConfigDict(frozen=True)

    code: str
    evidence: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class Generator(Protocol):
    """Makes candidates."""

    @property
    def name(self) -> str:
        """As given to `--generator`."""
        ...

    def options(self, bundle: Bundle) -> Mapping[str, CandidateSkills | str]:
        """What this generator can do with a bundle.

        Returns:
            For each of the six actions (`str(action)`) either the skills of the candidate that it would make, or one
            line that says why the action cannot apply.
        """
        ...

    def generate(self, assignment: Assignment, parent: Bundle) -> Candidate | Rejection:
        """Write the candidate of one draw.

        Raises:
            InfrastructureError: An endpoint or the machine failed.
        """
        ...


class Feedback(BaseModel):
    """Why an attempt was rejected: what a repair starts from.

    Attributes:
        stage: What rejected it: `synthesis`, `audit`, a stage of verification, `judge` or `band`.
        code: The reason code.
        evidence: What was seen. May hold hostile text.
        previous: Name of the attempt.
        bundle: What it gave; None where the answer was no bundle.
    """

    model_config = ConfigDict(frozen=True)

    stage: str
    code: str
    evidence: str
    previous: str
    bundle: Bundle | None = None


@runtime_checkable
class Repairing(Protocol):
    """A generator that can mend what was rejected. Those without this are asked for a fresh draw instead."""

    def repair(self, assignment: Assignment, parent: Bundle, feedback: Feedback) -> Candidate | Rejection:
        """Write the whole candidate again.

        Args:
            assignment: As for `generate`; its `repair` counts from 1.
            parent: The seed.
            feedback: Why the attempt before was rejected.

        Raises:
            InfrastructureError: An endpoint or the machine failed.
        """
        ...
