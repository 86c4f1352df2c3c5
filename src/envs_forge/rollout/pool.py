"""The distinct contents among the bundles of a measurement, and which rollouts each still needs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from envs_forge.bundle.hashing import content_hash
from envs_forge.bundle.model import Bundle
from envs_forge.rollout.identity import policy_key
from envs_forge.rollout.passrate import pass_rate
from envs_forge.rollout.policy import PolicyIdentity
from envs_forge.rollout.trial import PassRate, Trial, TrialStatus
from envs_forge.sandbox.runtime import Prepared

RETRIED = frozenset({TrialStatus.MACHINE_ERROR, TrialStatus.ENDPOINT_ERROR})
"""Statuses that are nobody's doing: tried again after a pause, and again by the next measurement."""


@dataclass(slots=True)
class PoolEntry:
    """One content and the tries at it that there were.

    `position` is its place among the bundles; rollouts with an index below `asked` are wanted.
    """

    position: int
    bundle: Bundle
    hash: str
    trials: list[Trial] = field(default_factory=list)
    prepared: Prepared | None = None
    asked: int = 0

    def missing(self) -> list[int]:
        """Indices of rollouts that are asked for and still need a trial."""
        finished = {trial.index for trial in self.trials if trial.status not in RETRIED}
        return [index for index in range(self.asked) if index not in finished]

    def score(self) -> tuple[float, int]:
        """Sum of rewards and number of the rollouts that were asked for and count."""
        rewards = {t.index: t.reward for t in self.trials if t.index < self.asked and t.reward is not None}
        return math.fsum(rewards.values()), len(rewards)

    @property
    def reused(self) -> int:
        """Rollouts up to the last that came from an earlier run."""
        return max((trial.index + 1 for trial in self.trials if trial.reused_from), default=0)

    def next_retry(self, index: int) -> int:
        """Number of the next try at a rollout."""
        return max((trial.retry + 1 for trial in self.trials if trial.index == index), default=0)


class Pool:
    """The bundles of one measurement; equal contents share one entry.

    Args:
        bundles: In the order in which they matter.
        policy: Whose trials count.
        known: Earlier trials; those of other policies and other contents are left out.
    """

    def __init__(self, bundles: Sequence[Bundle], policy: PolicyIdentity, known: Iterable[Trial]) -> None:
        self._names = [(bundle.id, content_hash(bundle)) for bundle in bundles]
        self._entries: dict[str, PoolEntry] = {}
        for position, bundle in enumerate(bundles):
            digest = self._names[position][1]
            self._entries.setdefault(digest, PoolEntry(position, bundle, digest))
        key = policy_key(policy)
        for trial in known:
            entry = self._entries.get(trial.bundle_hash)
            if entry is not None and policy_key(trial.policy) == key:
                entry.trials.append(trial)

    @property
    def entries(self) -> Sequence[PoolEntry]:
        """One for each content, in the order of the bundles."""
        return list(self._entries.values())

    def unfinished(self) -> list[PoolEntry]:
        """Entries that still need trials."""
        return [entry for entry in self._entries.values() if entry.missing()]

    def pass_rates(self) -> list[PassRate]:
        """One a bundle, in their order."""
        return [self._rate(name, self._entries[digest]) for name, digest in self._names]

    @staticmethod
    def _rate(name: str, entry: PoolEntry) -> PassRate:
        rate = pass_rate(name, entry.hash, entry.trials)
        return rate.model_copy(update={"missing": len(entry.missing())})
