"""A failure digest, as data."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict


class FailedTest(BaseModel):
    """A test that failed. `message` is what it said the first time."""

    model_config = ConfigDict(frozen=True)

    name: str
    rollouts: int
    message: str = ""


class FailureMode(BaseModel):
    """Rollouts that failed alike. Where they differ, the fields are those of the first.

    Attributes:
        rollouts: How many.
        status: How their trials ended.
        stopped: Why their attempts ended; empty where there was none.
        reward: Their mean reward, where they count.
        steps: Commands that the first one ran.
        failed_steps: How many of those ended with another code than 0.
        repeated: The most that it ran the same command.
        last_command: The last one that failed, else the last one.
        exit_code: Of that command; None where it never ended.
        error: The line of its output, or of the attempt's own error, that tells most.
        last_words: What the policy said at the end, where it says things.
        tests: Names of tests that failed.
    """

    model_config = ConfigDict(frozen=True)

    rollouts: int
    status: str
    stopped: str = ""
    reward: float | None = None
    steps: int = 0
    failed_steps: int = 0
    repeated: int = 0
    last_command: str = ""
    exit_code: int | None = None
    error: str = ""
    last_words: str = ""
    tests: tuple[str, ...] = ()


class FailureDigest(BaseModel):
    """How the failing rollouts of one policy on one bundle failed. Of bounded size.

    Attributes:
        k: Sum of rewards.
        n: Rollouts that count.
        failing: Rollouts that ended by the policy's doing without the full reward, counted or not.
        statuses: All rollouts by status.
        tests: Tests that failed, the commonest first; at most `MOST_TESTS`.
        modes: Ways of failing, the commonest first; at most `MOST_MODES`.
        more_tests: Tests beyond those.
        more_modes: Ways beyond those.
    """

    model_config = ConfigDict(frozen=True)

    schema_version: int = 1
    bundle_id: str
    bundle_hash: str
    k: float
    n: int
    failing: int
    statuses: Mapping[str, int]
    tests: tuple[FailedTest, ...] = ()
    modes: tuple[FailureMode, ...] = ()
    more_tests: int = 0
    more_modes: int = 0
