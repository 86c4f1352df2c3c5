"""What a training leaves behind while it runs: a line a step, a line an episode."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from envs_forge.redaction import redact
from envs_forge.train.advantages import GroupKind
from envs_forge.train.grpo.episodes import GroupRecord

METRICS, EPISODES = "metrics.jsonl", "episodes.jsonl"
KEPT = ("loss", "grad_norm", "learning_rate", "entropy", "kl", "clip_ratio/region_mean", "completions/mean_length")
"""Of TRL's own figures; the others follow from these or from the rewards."""


def group_counts(groups: Sequence[GroupRecord]) -> dict[str, Any]:
    """The figures of one batch. `mean_reward` is over the episodes that have a reward; None without one."""
    kinds = Counter(group.kind for group in groups)
    rewards = [reward for group in groups for reward in group.rewards if reward is not None]
    episodes = [episode for group in groups for episode in group.episodes]
    return {
        "groups": len(groups),
        **{kind.value.replace("-", "_"): kinds[kind] for kind in GroupKind},
        "episodes": len(episodes),
        "rewarded": len(rewards),
        "mean_reward": math.fsum(rewards) / len(rewards) if rewards else None,
        "sampled_tokens": sum(sum(episode.track.mask) for episode in episodes),
        "tokens": sum(len(episode.track.ids) for episode in episodes),
        "statuses": dict(Counter(episode.trial.status.value for episode in episodes)),
        "rollout_s": max((group.seconds for group in groups), default=0.0),
    }


class Recorder:
    """Appends to the files of a training directory.

    Args:
        root: The directory.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._groups: list[GroupRecord] = []

    def group(self, group: GroupRecord) -> None:
        """Keep the episodes of a group."""
        self._groups.append(group)
        _append(self._root / EPISODES, [_episode(group, place) for place in range(len(group.episodes))])

    def step(self, step: int, logs: Mapping[str, Any]) -> None:
        """Keep what an optimiser step came to, with the groups since the last one."""
        own = {key: float(logs[key]) for key in KEPT if isinstance(logs.get(key), int | float)}
        finite = {key: value for key, value in own.items() if math.isfinite(value)}
        _append(self._root / METRICS, [{"step": step, **group_counts(self._groups), **finite}])
        self._groups = []

    def cut(self, steps: int) -> None:
        """Forget what came after the checkpoint of step `steps`: it is done again."""
        path = self._root / METRICS
        if path.is_file():
            lines = [line for line in path.read_text("utf-8").splitlines() if json.loads(line)["step"] <= steps]
            path.write_text("".join(f"{line}\n" for line in lines), "utf-8")


def _episode(group: GroupRecord, place: int) -> dict[str, Any]:
    trial = group.episodes[place].trial
    attempt = trial.attempt
    return {
        "visit": group.visit,
        "task": trial.bundle_id,
        "hash": trial.bundle_hash,
        "place": place,
        "status": trial.status.value,
        "reward": trial.reward,
        "error": trial.error,
        "stopped": attempt.stopped.value if attempt is not None else None,
        "turns": [turn["text"] for turn in attempt.extra.get("turns", ())] if attempt is not None else [],
        "commands": [step.command for step in attempt.steps] if attempt is not None else [],
        "seconds": round(trial.duration_s, 3),
    }


def _append(path: Path, lines: Sequence[Mapping[str, Any]]) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.writelines(redact(json.dumps(line, ensure_ascii=False, allow_nan=False)) + "\n" for line in lines)
