"""Pass rates from a Harbor job directory, or from a directory of such ones.

Each trial's `result.json` gives its `task_name` and, when its verifier wrote one, a reward. A trial without a reward
broke for one reason or another and does not count; a task without a counted trial is left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from envs_forge.errors import UserError
from envs_forge.plan.passrates import PassRateRow, check_rows


def is_job(path: Path) -> bool:
    """Whether trials of Harbor lie below a directory, at most two levels deep."""
    return any(_trial(file) is not None for file in _files(path))


def read_job(path: Path) -> tuple[PassRateRow, ...]:
    """Pass rates of the tasks of a job, by name.

    Raises:
        UserError: Rewards that are no numbers in [0, 1], naming the rows in the order of the names; or none at all.
    """
    trials = {str(trial.get("id", file)): trial for file in _files(path) if (trial := _trial(file)) is not None}
    rewards: dict[str, list[Any]] = {}
    for _, trial in sorted(trials.items()):
        reward = _reward(trial)
        if reward is not None:
            rewards.setdefault(str(trial["task_name"]), []).append(reward)
    if not rewards:
        raise UserError(f"{path}: none of the {len(trials)} trials has a reward")
    return check_rows([{"id": name, "rewards": found} for name, found in sorted(rewards.items())], name=str(path))


def _files(path: Path) -> list[Path]:
    return sorted([*path.glob("*/result.json"), *path.glob("*/*/result.json")])


def _trial(file: Path) -> Mapping[str, Any] | None:
    """A trial's result; None for a job's own, and for what is no JSON."""
    try:
        value = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return None
    return value if isinstance(value, Mapping) and {"task_name", "trial_name"} <= value.keys() else None


def _reward(trial: Mapping[str, Any]) -> Any:
    result = trial.get("verifier_result")
    rewards = result.get("rewards") if isinstance(result, Mapping) else None
    return rewards.get("reward") if isinstance(rewards, Mapping) else None
