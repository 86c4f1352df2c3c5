"""Rewards without containers: 1 where exactly what the instruction says is done, by the readers' own `right` ways."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from envs_forge.bundle.hashing import content_hash
from envs_forge.bundle.pool import find_bundles
from envs_forge.bundle.reading import read_bundle
from envs_forge.rollout.policies.builtin.clauses import Clause
from envs_forge.rollout.policies.builtin.reader import Option, understand
from envs_forge.rollout.trial import TrialStatus
from envs_forge.train.builtin.learner import TrainingTask
from envs_forge.train.rewards.containers import Outcome
from envs_forge.train.rewards.deed import Deed

SEEDS = Path(__file__).parents[3] / "seeds"


@lru_cache
def right_commands(instruction: str) -> tuple[str, ...]:
    """What a reader that never errs would run. Where several right ways fit a clause, the first."""

    def choose(place: int, clause: Clause, options: Sequence[Option]) -> int:
        return next((at for at, option in enumerate(options) if option.way.right), 0)

    jobs, _ = understand(instruction, choose)
    return tuple(job.command() for job in jobs)


def obtain(deed: Deed) -> Outcome:
    right = right_commands(deed.bundle.instruction)
    passed = deed.commands == right
    status = TrialStatus.PASSED if passed else TrialStatus.FAILED
    done = dict(enumerate(deed.commands))
    failed = tuple(f"{at + 1}. step" for at, command in enumerate(right) if done.get(at) != command)
    return Outcome(reward=float(passed), status=status, lasting=True, duration_s=0.0, failed=failed)


@lru_cache
def pool(first: int = 0, last: int | None = None) -> tuple[TrainingTask, ...]:
    bundles = [read_bundle(path) for path in find_bundles([SEEDS])[first:last]]
    return tuple(TrainingTask(bundle, content_hash(bundle)) for bundle in bundles)
