"""The policy that runs the bundle's own solution: what it scores says whether the bundle is sound."""

from __future__ import annotations

from envs_forge.rollout.policy import Attempt, PolicyIdentity, Step, StopReason
from envs_forge.sandbox.engine import Sandbox
from envs_forge.sandbox.runtime import Prepared, Runtime

_KEPT = 64 * 1024


class OraclePolicy:
    """Runs `solution/solve.sh`. Its exit code does not matter, as in Harbor: the tests judge."""

    identity = PolicyIdentity(kind="oracle", name="oracle", version="1")

    def attempt_bundle(
        self, runtime: Runtime, prepared: Prepared, work: Sandbox, *, timeout_s: float, seed: int
    ) -> Attempt:
        """Run the solution once."""
        result = runtime.solve(prepared, work, timeout=timeout_s)
        output = (result.stdout + result.stderr)[-_KEPT:].decode("utf-8", errors="replace")
        step = Step(
            command="/solution/solve.sh", exit_code=result.exit_code, output=output, duration_s=result.duration_s
        )
        return Attempt(steps=(step,), stopped=StopReason.TIMEOUT if result.timed_out else StopReason.DONE)
