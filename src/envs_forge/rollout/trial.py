"""One rollout and the pass rate of many, as data."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from envs_forge.rollout.policy import Attempt, PolicyIdentity
from envs_forge.sandbox.verification import Verification


class TrialStatus(StrEnum):
    """How a rollout ended. Statuses of the machine are invalid: retried, counted apart, never 0."""

    PASSED = "passed"
    PARTIAL = "partial"
    FAILED = "failed"
    AGENT_TIMEOUT = "agent-timeout"
    AGENT_ERROR = "agent-error"
    CONTEXT_EXCEEDED = "context-exceeded"
    VERIFIER_ERROR = "verifier-error"
    BUILD_ERROR = "build-error"
    MACHINE_ERROR = "machine-error"
    ENDPOINT_ERROR = "endpoint-error"


COUNTED = frozenset(
    {
        TrialStatus.PASSED,
        TrialStatus.PARTIAL,
        TrialStatus.FAILED,
        TrialStatus.AGENT_TIMEOUT,
    }
)
"""Statuses that enter `n`. Whatever the agent's time-out left is verified like any other end."""


class Trial(BaseModel):
    """One rollout of one policy on one bundle. `index` counts a bundle's rollouts, `retry` the tries at one index."""

    model_config = ConfigDict(frozen=True)

    schema_version: int = 1
    bundle_id: str
    bundle_hash: str
    policy: PolicyIdentity
    index: int
    retry: int = 0
    seed: int
    status: TrialStatus
    reward: float | None
    """Finite and in [0, 1] exactly when `status` is counted, else None."""
    attempt: Attempt | None = None
    verification: Verification | None = None
    error: str = ""
    started_at: str
    duration_s: float


class PassRate(BaseModel):
    """A policy's mean reward on one bundle, never without its `n`.

    `k` is the sum of rewards over the `n` counted trials; `invalid` counts trials that did not count.
    `low`, `high`: equal-tailed 95 % interval of Beta(k + ½, n − k + ½) (Jeffreys).
    `rate` is None when n = 0.
    """

    model_config = ConfigDict(frozen=True)

    bundle_id: str
    bundle_hash: str
    k: float
    n: int
    invalid: int
    rate: float | None
    low: float
    high: float
