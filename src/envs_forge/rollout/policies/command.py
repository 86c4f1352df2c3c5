"""`command:PATH`: any trusted program of the host as a policy. `docs/measuring.md` has its contract.

The program itself is trusted and runs on the host; it reaches the task only through an exec prefix, and what passes
through that prefix runs in the sandbox.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import tempfile
import threading
from pathlib import Path

from envs_forge.errors import InfrastructureError, UserError
from envs_forge.rollout.hostprocess import HostResult, run_host_program
from envs_forge.rollout.policy import Attempt, PolicyIdentity, Step, StopReason, TaskView
from envs_forge.sandbox.engine import Sandbox

OUTPUT_LIMIT = 64 * 1024
EXIT_TRY_AGAIN = 75
"""EX_TEMPFAIL of sysexits.h: the program says that a machine or an endpoint failed, not the agent."""


class CommandPolicy:
    """Runs `PATH INSTRUCTION_FILE PREFIX…` once an attempt, with the same facts in `FORGE_…` variables.

    Args:
        path: The program; must be executable.

    Raises:
        UserError: There is no such program, or it has no run bit.
    """

    def __init__(self, path: Path) -> None:
        self._path = path.expanduser().resolve()
        if not self._path.is_file():
            raise UserError(f"no program at {path}", fix="give command:PATH of an executable file")
        if not os.access(self._path, os.X_OK):
            raise UserError(f"{path} is not executable", fix=f"chmod +x {shlex.quote(str(path))}")
        digest = hashlib.sha256(self._path.read_bytes()).hexdigest()
        self.identity = PolicyIdentity(kind="command", name=self._path.name, version=digest[:16])
        self._cancelled = threading.Event()

    def cancel(self) -> None:
        """End every attempt under way, and every later one, at once. Callable from any thread."""
        self._cancelled.set()

    def attempt(self, task: TaskView, sandbox: Sandbox, *, seed: int) -> Attempt:
        """Run the program to its end or time-out.

        Raises:
            InfrastructureError: It could not be started, was cancelled, or ended with exit code 75.
        """
        with tempfile.TemporaryDirectory(prefix="forge-command-") as name:
            directory = Path(name)
            instruction = directory / "instruction.md"
            instruction.write_text(task.instruction, encoding="utf-8", newline="\n")
            prefix = sandbox.exec_prefix()
            try:
                result = run_host_program(
                    [str(self._path), str(instruction), *prefix],
                    cwd=directory,
                    env={**os.environ, **_facts(task, instruction, prefix, seed)},
                    timeout_s=task.timeout_s,
                    output_limit=OUTPUT_LIMIT,
                    cancelled=self._cancelled.is_set,
                )
            except OSError as error:
                raise InfrastructureError(f"{self._path.name} could not be started: {error}", code="command") from error
        return self._attempt_of(result)

    def _attempt_of(self, result: HostResult) -> Attempt:
        output = result.tail.decode("utf-8", errors="replace")
        if result.cancelled:
            raise InfrastructureError(f"{self._path.name} was cancelled", code="cancelled")
        if result.exit_code == EXIT_TRY_AGAIN:
            raise InfrastructureError(f"{self._path.name} asked to be run again: {output[-500:]}", code="endpoint")
        step = Step(
            command=self._path.name,
            exit_code=result.exit_code,
            output=output,
            duration_s=result.duration_s,
            note="a program of the host; what it ran in the sandbox is in its output only",
        )
        if result.timed_out:
            return Attempt(steps=(step,), stopped=StopReason.TIMEOUT)
        if result.exit_code != 0:
            return Attempt(steps=(step,), stopped=StopReason.ERROR, error=f"exit code {result.exit_code}")
        return Attempt(steps=(step,), stopped=StopReason.DONE)


def _facts(task: TaskView, instruction: Path, prefix: list[str], seed: int) -> dict[str, str]:
    return {
        "FORGE_INSTRUCTION_FILE": str(instruction),
        "FORGE_WORKDIR": task.workdir,
        "FORGE_TIMEOUT_SEC": f"{task.timeout_s:g}",
        "FORGE_SEED": str(seed),
        "FORGE_EXEC": shlex.join(prefix),
        "FORGE_EXEC_JSON": json.dumps(prefix),
    }
