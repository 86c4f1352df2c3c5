"""The contract of a policy that brings sandbox and verifier of its own: it runs whole trials somewhere else."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from envs_forge.rollout.policy import Attempt, PolicyIdentity
from envs_forge.sandbox.runtime import Prepared
from envs_forge.sandbox.verification import Verification


@runtime_checkable
class ForeignPolicy(Protocol):
    """Runs trials that another system judges.

    Its identity names that system, so that its trials are never counted together with ours.
    """

    @property
    def identity(self) -> PolicyIdentity:
        """See `PolicyIdentity`."""
        ...

    @property
    def verifier(self) -> str:
        """Who judges, in a few words, to be shown beside every rate."""
        ...

    def run_whole(self, prepared: Prepared, *, timeout_s: float) -> tuple[Attempt, Verification]:
        """One trial from an untouched environment to a reward or the reason why there is none.

        Raises:
            SpoiltAttemptError: The machine or an endpoint failed during the attempt.
            InfrastructureError: The same, before there was one.
        """
        ...
