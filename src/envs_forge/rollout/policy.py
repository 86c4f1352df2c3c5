"""The contract of a policy: it attempts a task inside a sandbox and leaves a record of what it did."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict

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
    TIMEOUT = "agent-timeout"
    ERROR = "agent-error"


class Attempt(BaseModel):
    """What a policy did in one sandbox. `prompt_tokens`/`completion_tokens` are None where no model was asked."""

    model_config = ConfigDict(frozen=True)

    steps: tuple[Step, ...] = ()
    stopped: StopReason
    error: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    extra: Mapping[str, Any] = {}


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
