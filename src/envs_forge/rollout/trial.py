"""One rollout and the pass rate of many, as data."""

from __future__ import annotations

from collections.abc import Mapping
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


JUDGED = frozenset({TrialStatus.PASSED, TrialStatus.PARTIAL, TrialStatus.FAILED})
"""Statuses that always enter `n`: the agent ended and the tests gave a reward."""

OPTIONAL = (TrialStatus.AGENT_TIMEOUT, TrialStatus.CONTEXT_EXCEEDED, TrialStatus.AGENT_ERROR)
"""Statuses that enter `n` where that is configured, with the reward that the tests gave for what was left."""

COUNTED = JUDGED | {TrialStatus.AGENT_TIMEOUT}
"""Statuses that enter `n` by default. Whatever the agent's time-out left is verified like any other end."""


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
    """Finite and in [0, 1] exactly when the trial counts, else None; `verification` has what the tests said."""
    attempt: Attempt | None = None
    verification: Verification | None = None
    error: str = ""
    started_at: str
    duration_s: float
    reused_from: str = ""
    """Name of the run whose trial this is; empty where it was run here."""

    @property
    def counted(self) -> bool:
        """Whether it enters `n`."""
        return self.reward is not None


def recounted(trial: Trial, counted: frozenset[TrialStatus]) -> Trial:
    """A trial as it counts where the statuses in `counted` do."""
    told = trial.verification.reward if trial.verification is not None else trial.reward
    reward = told if trial.status in counted else None
    return trial if reward == trial.reward else trial.model_copy(update={"reward": reward})


class PassRate(BaseModel):
    """A policy's mean reward on one bundle, never without its `n`.

    `k` is the sum of rewards over the `n` counted trials; `invalid` counts trials that did not count.
    `low`, `high`: equal-tailed 95 % interval of Beta(k + ½, n − k + ½) (Jeffreys).
    `rate` is None when n = 0. `statuses` counts all trials by status, `reused` those of earlier runs.
    `missing` counts rollouts that were asked for and that machine or endpoint spoilt each time.
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
    statuses: Mapping[str, int] = {}
    reused: int = 0
    missing: int = 0
