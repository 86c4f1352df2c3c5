"""The outcome of gold verification, as data."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict

from envs_forge.sandbox.verification import Isolation


class Decision(StrEnum):
    """What became of a bundle. An error is the machine's fault and never a rejection."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    UNSUPPORTED = "unsupported"
    ERROR = "error"


class StageOutcome(StrEnum):
    """How one stage ended."""

    PASSED = "passed"
    FAILED = "failed"
    UNSUPPORTED = "unsupported"
    ERROR = "error"


class StageResult(BaseModel):
    """One stage of verification. `code` is a stable reason code, empty when passed."""

    model_config = ConfigDict(frozen=True)

    stage: str
    outcome: StageOutcome
    code: str = ""
    message: str = ""
    evidence: str = ""
    warnings: tuple[str, ...] = ()
    facts: Mapping[str, Any] = {}
    """What the stage did, in figures: rewards, what was varied and how, what was tried."""
    duration_s: float = 0.0


class Verdict(BaseModel):
    """All stages of one bundle. `stage` and `code` name the first stage that did not pass, empty when accepted."""

    model_config = ConfigDict(frozen=True)

    schema_version: int = 1
    bundle_id: str
    bundle_hash: str
    decision: Decision
    stage: str = ""
    code: str = ""
    stages: tuple[StageResult, ...]
    isolation: Isolation = Isolation.FRESH
    engine: str
    image_id: str = ""
    base_substitutions: Mapping[str, str] = {}
    """Base images that Dockerfiles named → local images that stood in for them."""
    machine: Mapping[str, str] = {}
    """Versions and what is in force: program, Python, system, and what the engine says of itself."""
    verifier_version: str
    options: Mapping[str, Any] = {}
    """The settings that the verdict depends on."""
    cached: bool = False
    """Whether an earlier verdict on the same content was taken over; times are of that one."""
    duration_s: float
