"""The policy that does nothing: what it scores, the untouched environment scores."""

from __future__ import annotations

from envs_forge.rollout.policy import Attempt, PolicyIdentity, StopReason, TaskView
from envs_forge.sandbox.engine import Sandbox


class NopPolicy:
    """Ends at once."""

    identity = PolicyIdentity(kind="nop", name="nop", version="1")

    def attempt(self, task: TaskView, sandbox: Sandbox, *, seed: int) -> Attempt:
        """Do nothing."""
        return Attempt(stopped=StopReason.DONE)
