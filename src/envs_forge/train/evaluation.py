"""Trials → an evaluation: Pass@1 and Pass@k under two denominators, and two evaluations against each other.

`valid` leaves out rollouts that have no reward (`rollout.trial.COUNTED`); `all_trials` takes every rollout and counts
those as failures, as most leaderboards do. Neither is the right one, so both are always shown. A success is the full
reward; partial rewards enter `mean_reward` only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from pydantic import BaseModel, ConfigDict

from envs_forge.errors import InvariantError, UserError
from envs_forge.rollout.trial import COUNTED, Trial
from envs_forge.train.estimators import Estimate, PairedEstimate, mean_estimate, paired_estimate, pass_at_k


class TaskResult(BaseModel):
    """One task: `rollouts` were made, of which `valid` count, `passed` got the full reward; `reward` is their sum."""

    model_config = ConfigDict(frozen=True)

    id: str
    content_hash: str
    rollouts: int
    valid: int
    passed: int
    reward: float


class Figures(BaseModel):
    """The estimates under one denominator. A task enters Pass@k where it has at least k rollouts."""

    model_config = ConfigDict(frozen=True)

    rollouts: int
    pass_at: Mapping[int, Estimate | None]
    mean_reward: Estimate | None
    without: Mapping[int, int]
    """For each k how many tasks have too few rollouts to enter."""


class Evaluation(BaseModel):
    """A policy on a set of tasks."""

    model_config = ConfigDict(frozen=True)

    schema_version: int = 1
    policy: str
    attempts: int
    """Rollouts asked of each task."""
    missing: int
    """Rollouts that were not made: the evaluation is not finished. They are in neither denominator."""
    tasks: tuple[TaskResult, ...]
    valid: Figures
    all_trials: Figures


class Comparison(BaseModel):
    """Pass@1 of one evaluation minus that of another, paired by the content of the tasks. None: no task in common."""

    model_config = ConfigDict(frozen=True)

    schema_version: int = 1
    valid: PairedEstimate | None
    all_trials: PairedEstimate | None


def evaluate_trials(
    tasks: Mapping[str, str], trials: Iterable[Trial], attempts: int, *, policy: str = ""
) -> Evaluation:
    """The evaluation that trials amount to.

    Args:
        tasks: Names by content hash.
        trials: Of one policy, in any order; of several tries at one rollout the one that counts is taken.
        attempts: Rollouts asked of each task.
        policy: Its name.

    Raises:
        UserError: There is no task.
        InvariantError: A trial of a task that is not among them.
    """
    if not tasks:
        raise UserError("there is no task to evaluate on")
    outcomes: dict[str, dict[int, float | None]] = {digest: {} for digest in tasks}
    for trial in trials:
        if trial.bundle_hash not in outcomes:
            raise InvariantError(f"a trial of {trial.bundle_id}, which is not evaluated")
        reward = trial.reward if trial.status in COUNTED else None
        if trial.index < attempts and (reward is not None or trial.index not in outcomes[trial.bundle_hash]):
            outcomes[trial.bundle_hash][trial.index] = reward
    rows = tuple(_row(name, digest, list(outcomes[digest].values())) for digest, name in tasks.items())
    return Evaluation(
        policy=policy,
        attempts=attempts,
        missing=sum(attempts - row.rollouts for row in rows),
        tasks=rows,
        valid=_figures(rows, attempts, lambda row: row.valid),
        all_trials=_figures(rows, attempts, lambda row: row.rollouts),
    )


def compare(one: Evaluation, other: Evaluation) -> Comparison:
    """`one` minus `other`, paired by the content of the tasks."""
    return Comparison(
        valid=paired_estimate(_rates(one, lambda row: row.valid), _rates(other, lambda row: row.valid)),
        all_trials=paired_estimate(_rates(one, lambda row: row.rollouts), _rates(other, lambda row: row.rollouts)),
    )


def shown_ks(attempts: int) -> list[int]:
    """For which k Pass@k is told: powers of two up to the attempts, and the attempts."""
    powers = [2**power for power in range(attempts.bit_length()) if 2**power <= attempts]
    return sorted({*powers, attempts})


Count = Callable[[TaskResult], int]


def _row(name: str, digest: str, rewards: Sequence[float | None]) -> TaskResult:
    valid = [reward for reward in rewards if reward is not None]
    passed = sum(reward == 1.0 for reward in valid)
    return TaskResult(
        id=name, content_hash=digest, rollouts=len(rewards), valid=len(valid), passed=passed, reward=sum(valid)
    )


def _figures(rows: Sequence[TaskResult], attempts: int, count: Count) -> Figures:
    pass_at: dict[int, Estimate | None] = {}
    without: dict[int, int] = {}
    for k in shown_ks(attempts):
        values = [pass_at_k(count(row), row.passed, k) for row in rows if count(row) >= k]
        pass_at[k] = mean_estimate(values) if values else None
        without[k] = len(rows) - len(values)
    means = [row.reward / count(row) for row in rows if count(row)]
    return Figures(
        rollouts=sum(count(row) for row in rows),
        pass_at=pass_at,
        mean_reward=mean_estimate(means) if means else None,
        without=without,
    )


def _rates(evaluation: Evaluation, count: Count) -> dict[str, float]:
    return {row.content_hash: row.passed / count(row) for row in evaluation.tasks if count(row)}
