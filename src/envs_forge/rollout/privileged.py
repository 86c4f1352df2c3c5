"""The contract of a policy that is given the whole bundle: an instrument for checks, never something to train."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from envs_forge.rollout.foreign import ForeignPolicy
from envs_forge.rollout.policy import Attempt, Policy, PolicyIdentity
from envs_forge.sandbox.engine import Sandbox
from envs_forge.sandbox.runtime import Prepared, Runtime


@runtime_checkable
class PrivilegedPolicy(Protocol):
    """Attempts tasks with the solution at hand. The runner calls `attempt_bundle` where others get `attempt`."""

    @property
    def identity(self) -> PolicyIdentity:
        """See `PolicyIdentity`."""
        ...

    def attempt_bundle(
        self, runtime: Runtime, prepared: Prepared, work: Sandbox, *, timeout_s: float, seed: int
    ) -> Attempt:
        """Work on the bundle in `work` until done or `timeout_s` is over.

        Raises:
            InfrastructureError: The machine failed.
        """
        ...


SandboxPolicy = Policy | PrivilegedPolicy
"""Works in a sandbox of ours, and our verifier judges."""
AnyPolicy = SandboxPolicy | ForeignPolicy
