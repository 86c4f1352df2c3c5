"""Runs a bundle's tests over what the agent left, and reads the reward strictly."""

from __future__ import annotations

from envs_forge.bundle.model import Bundle
from envs_forge.sandbox.engine import Engine, Sandbox, SandboxSpec
from envs_forge.sandbox.verification import Isolation, Verification


def verify(
    engine: Engine,
    bundle: Bundle,
    work: Sandbox,
    *,
    spec: SandboxSpec,
    isolation: Isolation = Isolation.FRESH,
    timeout: float | None = None,
) -> Verification:
    """Run `tests/test.sh` over what happened in `work` and read the reward.

    With `Isolation.FRESH` the agent's processes are killed, its filesystem becomes the lower layer of a new
    sandbox, and afterwards `work` can only be destroyed. With `Isolation.LIVE` the tests run beside whatever
    is still running in `work`. Either way `/tests` comes from `bundle` and `/logs/verifier` starts out empty.

    Args:
        engine: The engine that made `work`.
        bundle: Where the tests come from.
        work: The sandbox that the agent or the oracle worked in. It is not destroyed here.
        spec: How the sandbox of the tests is made; its `fresh_dirs` are overridden.
        isolation: Where the tests run.
        timeout: Seconds for `test.sh`; default the bundle's own.

    Returns:
        The verification: a reward or a fault, never both.

    Raises:
        InfrastructureError: The machine failed; there is no verification.
    """
    raise NotImplementedError
