"""`Rewards`: deeds in, rewards out. Each deed is first done in a real container; then its reward may be remembered.

A sound bundle gives equal deeds equal rewards, which gold verification checks with its repeated runs. The audit checks
it again: one deed in a hundred, chosen by its key, is done in a second container when its reward is asked for again.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from pydantic import BaseModel, ConfigDict

from envs_forge.errors import ForgeError
from envs_forge.rollout.trial import TrialStatus
from envs_forge.train.rewards.containers import Obtain, Outcome
from envs_forge.train.rewards.deed import Deed, DeedKey
from envs_forge.train.rewards.store import RewardStore

AUDIT_ONE_IN = 100


class StoppedError(ForgeError):
    """Training was told to stop; what was finished is kept."""

    exit_code = 130


class RewardCounts(BaseModel):
    """What became of the rewards that were asked for. `asked` = `contained` + `remembered` + `invalid`."""

    model_config = ConfigDict(frozen=True)

    asked: int = 0
    contained: int = 0
    """From a container of their own."""
    remembered: int = 0
    """Of deeds that were done before."""
    invalid: int = 0
    """No container gave a reward, whatever the retries."""
    audits: int = 0
    """Deeds that were done once more."""
    mismatches: int = 0
    """Audits that found another reward: an error of the bundle or the machine."""

    def plus(self, **more: int) -> RewardCounts:
        """The counts with so much added."""
        return RewardCounts(**{name: value + more.get(name, 0) for name, value in self.model_dump().items()})


class Rewards:
    """Rewards of deeds. One object serves a training.

    Args:
        obtain: Runs a deed in a container.
        store: Where rewards are remembered; None: every deed is done anew.
        workers: Containers at once.
        engine: Name of the engine, for the record.
        audit_one_in: One deed in so many is done again.
        stop: Set to begin no further container.
    """

    def __init__(
        self,
        obtain: Obtain,
        store: RewardStore | None,
        *,
        workers: int = 2,
        engine: str = "",
        audit_one_in: int = AUDIT_ONE_IN,
        stop: threading.Event | None = None,
    ) -> None:
        self._obtain, self._store = obtain, store
        self._workers, self._engine, self._one_in = workers, engine, audit_one_in
        self._stop = stop or threading.Event()
        self._audited = store.audited_keys() if store is not None else set()
        self.counts = RewardCounts()
        """So far."""
        self.last_error = ""
        """Why the last reward that is missing is missing."""

    @property
    def broken(self) -> bool:
        """Whether the last reward that is missing is missing by a fault of the machine, and not of a bundle."""
        return self.last_error.startswith((TrialStatus.MACHINE_ERROR.value, TrialStatus.ENDPOINT_ERROR.value))

    def of(self, deeds: Sequence[Deed]) -> list[float | None]:
        """The rewards, in order; None where no container gave one. What is None is never a 0.

        Raises:
            StoppedError: The stop was set before all were there.
        """
        if self._store is None:
            rewards = self._run(deeds, None)
            contained = sum(reward is not None for reward in rewards)
            self.counts = self.counts.plus(asked=len(deeds), contained=contained, invalid=len(deeds) - contained)
            return rewards
        return self._remembering(deeds, self._store)

    def failed(self, deed: Deed) -> tuple[str, ...]:
        """Names of the tests that failed on a deed whose reward is remembered."""
        return self._store.failed(deed.key) if self._store is not None else ()

    def _remembering(self, deeds: Sequence[Deed], store: RewardStore) -> list[float | None]:
        known = {deed.key: store.get(deed.key) for deed in deeds}
        new = {deed.key: deed for deed in deeds if known[deed.key] is None}
        again = {deed.key: deed for deed in deeds if known[deed.key] is not None and self._chosen(deed.key)}
        known.update(zip(new, self._run(list(new.values()), store), strict=True))
        for key, reward in zip(again, self._run(list(again.values()), None), strict=True):
            self._audit(key, known[key], reward, store)
        rewards = [known[deed.key] for deed in deeds]
        invalid = sum(reward is None for reward in rewards)
        contained = sum(known[key] is not None for key in new)
        remembered = len(deeds) - contained - invalid
        self.counts = self.counts.plus(asked=len(deeds), contained=contained, invalid=invalid, remembered=remembered)
        return rewards

    def _chosen(self, key: DeedKey) -> bool:
        """Whether a deed that is asked for again is to be audited now: by its key, and once."""
        return key not in self._audited and int(key[1][:12], 16) % self._one_in == 0

    def _audit(self, key: DeedKey, kept: float | None, again: float | None, store: RewardStore) -> None:
        if again is None or kept is None:
            return  # a fault of the machine says nothing; the deed is audited when it comes again
        self._audited.add(key)
        store.audit(key, kept, again)
        self.counts = self.counts.plus(audits=1, mismatches=int(kept != again))

    def _run(self, deeds: Sequence[Deed], store: RewardStore | None) -> list[float | None]:
        """Do deeds, so many at once; each reward that lasts is kept as soon as it is there."""
        if not deeds:
            return []

        def run(deed: Deed) -> Outcome | None:
            if self._stop.is_set():
                return None
            outcome = self._obtain(deed)
            if store is None or outcome.reward is None or not outcome.lasting:
                return outcome
            kept = store.put(
                deed.key,
                outcome.reward,
                engine=self._engine,
                duration_s=outcome.duration_s,
                failed=outcome.failed,
            )
            return outcome.model_copy(update={"reward": kept})

        with ThreadPoolExecutor(max_workers=self._workers) as pool:
            outcomes = [outcome for outcome in pool.map(run, deeds) if outcome is not None]
        if len(outcomes) < len(deeds) or self._stop.is_set():
            raise StoppedError("stopped; what was finished is kept")
        lost = [outcome for outcome in outcomes if outcome.reward is None]
        if lost:
            self.last_error = f"{lost[-1].status.value}: {lost[-1].error}"
        return [outcome.reward for outcome in outcomes]
