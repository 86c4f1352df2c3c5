"""The reward of a deed from a real container, with the tests of the bundle."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from pydantic import BaseModel, ConfigDict

from envs_forge.errors import InfrastructureError
from envs_forge.rollout.digest.tests import failed_tests
from envs_forge.rollout.runner import run_trial
from envs_forge.rollout.trial import COUNTED, TrialStatus
from envs_forge.sandbox.images.model import BuildFault
from envs_forge.sandbox.runtime import Prepared, Runtime
from envs_forge.train.rewards.deed import Deed
from envs_forge.train.rewards.replay import Replay

RETRIED = frozenset({TrialStatus.MACHINE_ERROR, TrialStatus.ENDPOINT_ERROR, TrialStatus.VERIFIER_ERROR})
LASTING = frozenset({TrialStatus.PASSED, TrialStatus.PARTIAL, TrialStatus.FAILED})


class Outcome(BaseModel):
    """What a container said. `reward` is None when nothing counted; `lasting`: another container would say the same."""

    model_config = ConfigDict(frozen=True)

    reward: float | None
    status: TrialStatus
    error: str = ""
    lasting: bool
    duration_s: float
    failed: tuple[str, ...] = ()
    """Names of the tests that failed."""


class Obtain(Protocol):
    """Runs a deed. Called from several threads at once."""

    def __call__(self, deed: Deed) -> Outcome:
        """The outcome; a fault of the machine is in it and raises nothing."""
        ...


class Containers:
    """Runs deeds in fresh sandboxes. Implements `Obtain`.

    Args:
        runtime: Where they run.
        retries: Further tries at what the machine spoilt.
        pause: Waits so many seconds before each; tests put something shorter here.
    """

    def __init__(self, runtime: Runtime, *, retries: int = 2, pause: Callable[[float], None] = time.sleep) -> None:
        self._runtime = runtime
        self._retries = retries
        self._pause = pause
        self._prepared: dict[str, Prepared] = {}

    def __call__(self, deed: Deed) -> Outcome:
        """See `Obtain`."""
        for tries in range(self._retries + 1):
            if tries:
                self._pause(float(tries))
            outcome = self._try(deed, tries)
            if outcome.status not in RETRIED:
                break
        return outcome

    def _try(self, deed: Deed, tries: int) -> Outcome:
        began = time.monotonic()
        try:
            prepared = self._prepare(deed)
        except InfrastructureError as error:
            return _without(TrialStatus.MACHINE_ERROR, str(error), began)
        if isinstance(prepared, BuildFault):
            return _without(TrialStatus.BUILD_ERROR, prepared.message, began)
        policy = Replay(deed)
        trial = run_trial(self._runtime, prepared, policy, index=0, retry=tries, bundle_hash=deed.bundle_hash)
        if trial.status not in COUNTED:
            return _without(trial.status, trial.error, began)
        return Outcome(
            reward=trial.reward,
            status=trial.status,
            lasting=trial.status in LASTING,
            duration_s=time.monotonic() - began,
            failed=tuple(failed_tests(trial.verification.output_tail)) if trial.verification is not None else (),
        )

    def _prepare(self, deed: Deed) -> Prepared | BuildFault:
        known = self._prepared.get(deed.bundle_hash)
        if known is not None:
            return known
        found = self._runtime.prepare(deed.bundle)
        if isinstance(found, Prepared):
            self._prepared[deed.bundle_hash] = found
        return found


def _without(status: TrialStatus, error: str, began: float) -> Outcome:
    return Outcome(reward=None, status=status, error=error, lasting=False, duration_s=time.monotonic() - began)
