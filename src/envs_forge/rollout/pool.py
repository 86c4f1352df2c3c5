"""The distinct contents among the bundles of a measurement, and which rollouts each still needs."""

from __future__ import annotations

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
    """One content and the tries at it that there were. `position` is its place among the bundles."""

    position: int
    bundle: Bundle
    hash: str
    trials: list[Trial] = field(default_factory=list)
    prepared: Prepared | None = None

    def missing(self, rollouts: int) -> list[int]:
        """Indices below `rollouts` that still need a trial."""
        finished = {trial.index for trial in self.trials if trial.status not in RETRIED}
        return [index for index in range(rollouts) if index not in finished]

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

    def unfinished(self, rollouts: int) -> list[PoolEntry]:
        """Entries that still need trials."""
        return [entry for entry in self._entries.values() if entry.missing(rollouts)]

    def pass_rates(self) -> list[PassRate]:
        """One a bundle, in their order."""
        return [pass_rate(name, digest, self._entries[digest].trials) for name, digest in self._names]
