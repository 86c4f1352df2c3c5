"""Ending the attempts of a policy early, where the policy can."""

from __future__ import annotations

from typing import Protocol, runtime_checkable


@runtime_checkable
class Cancellable(Protocol):
    """A policy that waits for something outside the sandbox and can stop waiting."""

    def cancel(self) -> None:
        """End every attempt under way, and every later one, at once. Callable from any thread."""
        ...


def cancel_policy(policy: object) -> None:
    """Cancel a policy that can be cancelled; the end of their sandboxes ends the attempts of all others."""
    if isinstance(policy, Cancellable):
        policy.cancel()
