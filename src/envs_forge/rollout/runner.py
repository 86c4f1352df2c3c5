"""One rollout: fresh sandbox → attempt → verification → `Trial`."""

from __future__ import annotations

import contextlib
import time
import traceback
from contextlib import AbstractContextManager
from datetime import UTC, datetime

from pydantic import BaseModel, ConfigDict

from envs_forge.bundle.hashing import content_hash
from envs_forge.bundle.model import Bundle
from envs_forge.errors import InfrastructureError
from envs_forge.rollout.foreign import ForeignPolicy
from envs_forge.rollout.identity import trial_seed
from envs_forge.rollout.policy import Attempt, SpoiltAttemptError, StopReason, TaskView
from envs_forge.rollout.privileged import AnyPolicy, PrivilegedPolicy, SandboxPolicy
from envs_forge.rollout.trial import COUNTED, Trial, TrialStatus
from envs_forge.sandbox.engine import Sandbox
from envs_forge.sandbox.runtime import Prepared, Runtime
from envs_forge.sandbox.verification import Isolation, Verification

ENDPOINT_CODE = "endpoint"
"""An `InfrastructureError` with this code, or one that starts with it and a dash, is a model endpoint's."""


class TrialOptions(BaseModel):
    """How one rollout is run."""

    model_config = ConfigDict(frozen=True)

    timeout_factor: float = 1.0
    """Multiplies the time that the bundle gives the agent."""
    timeout_cap_s: float | None = None
    """The most that the agent gets after that; None is no cap."""
    counted: frozenset[TrialStatus] = COUNTED
    """Statuses that enter `n`, of those that have a reward."""


def isolation_of(bundle: Bundle) -> Isolation:
    """Where the bundle's tests run: as its provenance says that gold verification found, else fresh."""
    return Isolation.LIVE if bundle.provenance.get("isolation") == Isolation.LIVE.value else Isolation.FRESH


def task_view(prepared: Prepared, options: TrialOptions) -> TaskView:
    """What the policy is told."""
    seconds = prepared.bundle.config.agent_timeout_sec * options.timeout_factor
    if options.timeout_cap_s is not None:
        seconds = min(seconds, options.timeout_cap_s)
    return TaskView(instruction=prepared.bundle.instruction, workdir=prepared.image.workdir, timeout_s=seconds)


class TrialDraft:
    """A trial while it runs: knows what happened so far, and makes the record of it."""

    def __init__(self, bundle: Bundle, bundle_hash: str, policy: AnyPolicy, index: int, retry: int = 0) -> None:
        self._bundle = bundle
        self._hash = bundle_hash
        self._identity = policy.identity
        self._index = index
        self._retry = retry
        self._started_at = datetime.now(UTC).isoformat(timespec="milliseconds")
        self._clock = time.monotonic()
        self.seed = trial_seed(self._hash, self._identity, index)
        self.attempt: Attempt | None = None
        self.verification: Verification | None = None

    def end(self, status: TrialStatus, *, reward: float | None = None, error: str = "") -> Trial:
        """The record of a trial that ends here."""
        return Trial(
            bundle_id=self._bundle.id,
            bundle_hash=self._hash,
            policy=self._identity,
            index=self._index,
            retry=self._retry,
            seed=self.seed,
            status=status,
            reward=reward,
            attempt=self.attempt,
            verification=self.verification,
            error=error,
            started_at=self._started_at,
            duration_s=time.monotonic() - self._clock,
        )


def run_trial(
    runtime: Runtime,
    prepared: Prepared,
    policy: AnyPolicy,
    *,
    index: int,
    retry: int = 0,
    bundle_hash: str | None = None,
    options: TrialOptions = TrialOptions(),  # noqa: B008 - frozen
    core: AbstractContextManager[object] | None = None,
) -> Trial:
    """Run one try at one rollout. Whatever happens is in the trial; nothing is raised for it.

    Args:
        runtime: Where it runs.
        prepared: The bundle, built.
        policy: Who tries.
        index: Which of the bundle's rollouts this is.
        retry: How many tries there were before.
        bundle_hash: Content hash where the caller knows it.
        options: How it is run.
        core: Entered, several times, around what takes a core of this machine beside the attempt itself: the sandbox's
            start and the tests. The agent's time does not run meanwhile.
    """
    core = core or contextlib.nullcontext()
    draft = TrialDraft(prepared.bundle, bundle_hash or content_hash(prepared.bundle), policy, index, retry)
    try:
        if isinstance(policy, ForeignPolicy):
            _elsewhere(draft, prepared, policy, options)
            return _judged(draft, options.counted)
        with contextlib.ExitStack() as stack:
            with core:
                work = stack.enter_context(runtime.open(prepared))
            ended = _attempt(draft, runtime, prepared, policy, work, options)
            if ended or TrialStatus.AGENT_ERROR in options.counted:
                with core:
                    draft.verification = runtime.verify(prepared, work, isolation=isolation_of(prepared.bundle))
    except Exception as error:
        status, text = machine_fault(error)
        return draft.end(status, error=text)
    return _judged(draft, options.counted)


def _elsewhere(draft: TrialDraft, prepared: Prepared, policy: ForeignPolicy, options: TrialOptions) -> None:
    """A whole trial of another system, which also judged it."""
    try:
        draft.attempt, draft.verification = policy.run_whole(prepared, timeout_s=task_view(prepared, options).timeout_s)
    except SpoiltAttemptError as error:
        draft.attempt = error.attempt
        raise


def machine_fault(error: Exception) -> tuple[TrialStatus, str]:
    """Status and text of a trial that was spoilt by `error`, neither the policy's nor the bundle's doing.

    An exception that is no `InfrastructureError` is a defect of ours: it spoils one trial, not the measurement, and
    its place in the code is kept.
    """
    if not isinstance(error, InfrastructureError):
        place = "".join(traceback.format_exception(error)[-2:]).strip()
        return TrialStatus.MACHINE_ERROR, f"internal: {place}"
    endpoint = error.code == ENDPOINT_CODE or error.code.startswith(f"{ENDPOINT_CODE}-")
    return TrialStatus.ENDPOINT_ERROR if endpoint else TrialStatus.MACHINE_ERROR, f"{error.code}: {error}"


def _attempt(
    draft: TrialDraft,
    runtime: Runtime,
    prepared: Prepared,
    policy: SandboxPolicy,
    work: Sandbox,
    options: TrialOptions,
) -> bool:
    """Let the policy work; whether what it left is to be verified. A defect of the policy is an agent error."""
    task = task_view(prepared, options)
    try:
        if isinstance(policy, PrivilegedPolicy):
            draft.attempt = policy.attempt_bundle(runtime, prepared, work, timeout_s=task.timeout_s, seed=draft.seed)
        else:
            draft.attempt = policy.attempt(task, work, seed=draft.seed)
    except SpoiltAttemptError as error:
        draft.attempt = error.attempt
        raise
    except InfrastructureError:
        raise
    except Exception as error:
        draft.attempt = Attempt(stopped=StopReason.ERROR, error=f"{type(error).__name__}: {error}")
    return draft.attempt.stopped is not StopReason.ERROR


def _judged(draft: TrialDraft, counted: frozenset[TrialStatus]) -> Trial:
    """The record of a trial that nothing spoilt: what ended the attempt, else what the tests said."""
    attempt, verification = draft.attempt, draft.verification
    reward = verification.reward if verification is not None else None
    stopped = attempt.stopped if attempt is not None else None
    if stopped is StopReason.ERROR:
        status = TrialStatus.AGENT_ERROR
    elif reward is None:
        return draft.end(TrialStatus.VERIFIER_ERROR, error=str(verification.fault) if verification is not None else "")
    else:
        status = (_STOPPED.get(stopped) if stopped is not None else None) or _status_of(reward)
    error = attempt.error if attempt is not None and status in _TOLD else ""
    return draft.end(status, reward=reward if status in counted else None, error=error)


_STOPPED = {StopReason.CONTEXT: TrialStatus.CONTEXT_EXCEEDED, StopReason.TIMEOUT: TrialStatus.AGENT_TIMEOUT}
_TOLD = frozenset({TrialStatus.AGENT_ERROR, TrialStatus.CONTEXT_EXCEEDED})


def _status_of(reward: float) -> TrialStatus:
    if reward == 1.0:
        return TrialStatus.PASSED
    return TrialStatus.FAILED if reward == 0.0 else TrialStatus.PARTIAL
