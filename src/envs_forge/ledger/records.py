"""One frozen model for each kind of row. Column names are field names.

`KEY` of a record is its natural key: the ledger takes each key once. `payload` is JSON that whoever makes the
record owns.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field


def now() -> str:
    """The time as it is written in records: UTC, ISO 8601, milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class Record(BaseModel):
    """What all rows have: when they were written, and a JSON payload."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    TABLE: ClassVar[str]
    KEY: ClassVar[tuple[str, ...]]

    at: str = Field(default_factory=now)
    payload: Mapping[str, Any] = {}

    @property
    def key(self) -> tuple[Any, ...]:
        """The values of the natural key."""
        return tuple(getattr(self, name) for name in self.KEY)


class SessionRecord(Record):
    """One process that worked on the run. The payload holds configuration and lock as that process saw them."""

    TABLE = "sessions"
    KEY = ("number",)

    number: int
    version: str


class EventRecord(Record):
    """Something that a session did or met, and how long it took."""

    TABLE = "events"
    KEY = ("session", "kind", "subject")

    session: int
    kind: str
    subject: str = ""
    duration_s: float = 0.0


class TrialRecord(Record):
    """One rollout. `number` counts a bundle's rollouts, `retry` the tries at one number.

    `purpose` is `seed` where a seed was measured, `child` where a candidate was.
    """

    TABLE = "trials"
    KEY = ("bundle_hash", "policy", "number", "retry")

    bundle_hash: str
    policy: str
    number: int
    retry: int
    bundle_id: str
    status: str
    counted: bool
    reward: float | None
    duration_s: float
    purpose: str = "seed"


class PlanRecord(Record):
    """One solution of the decision problem. `fixed` of its `size` choices were accepted before it was made."""

    TABLE = "plans"
    KEY = ("number",)

    number: int
    size: int
    fixed: int
    recipe: str
    objective: float
    duration_s: float


class AttemptRecord(Record):
    """One draw at one place of one plan, or one repair of it. It gave a candidate, or `code` says why there is none."""

    TABLE = "attempts"
    KEY = ("slot", "plan", "draw", "repair")

    slot: int
    plan: int
    draw: int
    repair: int = 0
    seed_hash: str
    action: str
    candidate: str | None
    content_hash: str | None
    code: str = ""
    duration_s: float


class VerdictRecord(Record):
    """One gold verification of an attempt's candidate. More than one only where the machine failed (`retry`)."""

    TABLE = "verdicts"
    KEY = ("slot", "plan", "draw", "repair", "retry")

    slot: int
    plan: int
    draw: int
    repair: int = 0
    retry: int
    bundle_hash: str
    decision: str
    stage: str
    code: str
    duration_s: float


class DecisionRecord(Record):
    """What became of an attempt in the end: accepted, or rejected at `stage` for `code`."""

    TABLE = "decisions"
    KEY = ("slot", "plan", "draw", "repair")

    slot: int
    plan: int
    draw: int
    repair: int = 0
    accepted: bool
    content_hash: str | None
    stage: str = ""
    code: str = ""


class ModelCallRecord(Record):
    """One paid call. Cached tokens are part of the prompt's, reasoning tokens part of the completion's.

    `cost_usd` is None where the price is not known, which is not the same as free.
    """

    TABLE = "model_calls"
    KEY = ("role", "subject", "number")

    role: str
    subject: str
    number: int
    model: str
    prompt_tokens: int
    cached_tokens: int = 0
    completion_tokens: int
    reasoning_tokens: int = 0
    cost_usd: float | None = None
    duration_s: float


class ModelAnswerRecord(Record):
    """An answer as it came, in the payload, recorded before anything is made of it."""

    TABLE = "model_answers"
    KEY = ("role", "subject", "number")

    role: str
    subject: str
    number: int
    model: str
    kind: str


class RequestState(StrEnum):
    """What became of a request that may cost something."""

    RESERVED = "reserved"
    SETTLED = "settled"
    RELEASED = "released"


class ModelRequestRecord(Record):
    """A request at its worst before it is sent (`reserved`), and how it ended; see the migration that makes the table.

    The counts are those of the reservation; what a settled request really took is a `ModelCallRecord`.
    """

    TABLE = "model_requests"
    KEY = ("role", "subject", "number", "retry", "state")

    role: str
    subject: str
    number: int
    retry: int
    state: RequestState
    session: int
    model: str
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | None = None


KINDS: tuple[type[Record], ...] = (
    SessionRecord,
    EventRecord,
    TrialRecord,
    PlanRecord,
    AttemptRecord,
    VerdictRecord,
    DecisionRecord,
    ModelCallRecord,
    ModelAnswerRecord,
    ModelRequestRecord,
)
