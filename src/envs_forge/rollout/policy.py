"""The contract of a policy: it attempts a task inside a sandbox and leaves a record of what it did."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict

from envs_forge.errors import InfrastructureError
from envs_forge.sandbox.engine import Sandbox


class TaskView(BaseModel):
    """All that a policy may know of a task. Never the metadata, the solution or the tests."""

    model_config = ConfigDict(frozen=True)

    instruction: str
    workdir: str
    timeout_s: float


class PolicyIdentity(BaseModel):
    """What makes two measurements comparable: equal identities, equal behaviour up to sampling.

    `settings` holds everything that changes behaviour (sampling, prompt version, parameter digest) and no secret.
    """

    model_config = ConfigDict(frozen=True)

    kind: str
    name: str
    version: str
    settings: Mapping[str, Any] = {}

    @property
    def label(self) -> str:
        """The name, and who judges where that is not our own verifier."""
        verifier = self.settings.get("verifier")
        return f"{self.name} (judged by {verifier})" if verifier else self.name


class Step(BaseModel):
    """One action of the policy and what came back."""

    model_config = ConfigDict(frozen=True)

    command: str
    exit_code: int | None
    output: str
    duration_s: float
    note: str = ""


class StopReason(StrEnum):
    """Why an attempt ended."""

    DONE = "done"
    GAVE_UP = "gave-up"
    LIMIT = "limit"
    """Of turns or tokens; judged like any other end."""
    TIMEOUT = "agent-timeout"
    CONTEXT = "context-exceeded"
    ERROR = "agent-error"
    BROKEN_OFF = "broken-off"
    """By the machine or an endpoint; only ever in a trial that does not count."""


class Attempt(BaseModel):
    """What a policy did in one sandbox.

    `prompt_tokens`/`completion_tokens` are None where no model was asked, and where what it used is not wholly known;
    then `extra["usage"]` has the part that is. Cached tokens are part of the prompt's, reasoning of the completion's.
    """

    model_config = ConfigDict(frozen=True)

    steps: tuple[Step, ...] = ()
    stopped: StopReason
    error: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    extra: Mapping[str, Any] = {}


class SpoiltAttemptError(InfrastructureError):
    """The machine or an endpoint broke an attempt off; `attempt` is what there was of it, paid tokens and all."""

    def __init__(self, cause: InfrastructureError, attempt: Attempt) -> None:
        super().__init__(cause.message, code=cause.code, fix=cause.fix)
        self.attempt = attempt


class Policy(Protocol):
    """Attempts tasks. One object serves many threads at once."""

    @property
    def identity(self) -> PolicyIdentity:
        """See `PolicyIdentity`."""
        ...

    def attempt(self, task: TaskView, sandbox: Sandbox, *, seed: int) -> Attempt:
        """Work on `task` in `sandbox` until done or `task.timeout_s` is over.

        Args:
            task: What the agent is told.
            sandbox: A fresh sandbox of the task's image.
            seed: Makes the policy's own sampling repeatable where it can be.

        Raises:
            InfrastructureError: The machine or an endpoint failed; the trial is invalid, not failed.
        """
        ...
