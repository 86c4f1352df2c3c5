"""The curve of a training, whichever kind it is."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from envs_forge.errors import UserError

METRICS = "metrics.jsonl"


@dataclass(frozen=True)
class Curve:
    """A training by step. `rewards` are means over the rollouts that have one, None where none has."""

    name: str
    policy: str
    steps: tuple[int, ...]
    rewards: tuple[float | None, ...]
    mixed: tuple[float, ...]
    """Share of the step's groups whose rewards were not all equal."""
    dropped: int
    groups: int


def is_training(root: Path) -> bool:
    """Whether a directory is one that `envs-forge train` wrote."""
    return (root / METRICS).is_file()


def read_curve(root: Path) -> Curve:
    """Read a training.

    Raises:
        UserError: Its records are damaged.
    """
    try:
        lines = [json.loads(line) for line in (root / METRICS).read_text("utf-8").splitlines()]
        return Curve(
            name=root.name,
            policy=_policy(root),
            steps=tuple(int(line["step"]) for line in lines),
            rewards=tuple(line["mean_reward"] for line in lines),
            mixed=tuple(line["mixed"] / line["groups"] if line["groups"] else 0.0 for line in lines),
            dropped=sum(line["dropped"] for line in lines),
            groups=sum(line["groups"] for line in lines),
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{root / METRICS} is damaged: {error}") from error


def _policy(root: Path) -> str:
    for name, key in (("finetuning.json", "model"), ("training.json", "policy")):
        if (root / name).is_file():
            table: dict[str, Any] = json.loads((root / name).read_bytes())
            return str(table.get(key, ""))
    return ""
