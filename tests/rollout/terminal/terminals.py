"""A sandbox that is a shell of this machine, in a directory of its own. It stands in where no isolation is at stake."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from envs_forge.config import AgentSettings
from envs_forge.models.settings import Sampling
from envs_forge.rollout.policies.terminal.policy import TerminalPolicy
from envs_forge.rollout.policy import TaskView
from envs_forge.sandbox.engine import ExecResult
from models.clients import endpoint
from models.server import ModelServer

TASK = TaskView(instruction="Write {{ 7 }} into seven.txt", workdir="/app", timeout_s=20.0)


class LocalSandbox:
    """Only `exec`."""

    def __init__(self, directory: Path, *, bash: bool = True) -> None:
        self.directory, self.bash = directory, bash
        self.ran = 0
        self.fault: Exception | None = None

    def exec(
        self,
        argv: Sequence[str],
        *,
        timeout: float,
        env: Mapping[str, str] | None = None,
        stdin: bytes | None = None,
        output_limit: int = 1 << 20,
    ) -> ExecResult:
        if self.fault is not None:
            raise self.fault
        if argv[-1] == "command -v bash":
            return ExecResult(0 if self.bash else 127, b"", b"", 0.0)
        self.ran += 1
        began = time.monotonic()
        process = subprocess.Popen(
            argv,
            cwd=self.directory,
            env={"PATH": "/usr/bin:/bin", "FROM_IMAGE": "yes"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        try:
            out, err = process.communicate(stdin or b"", timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            return ExecResult(None, out[:output_limit], err[:output_limit], time.monotonic() - began, timed_out=True)
        return ExecResult(process.returncode, out[:output_limit], err[:output_limit], time.monotonic() - began)


def agent(**settings: object) -> AgentSettings:
    sampling = settings.pop("sampling", {})
    return AgentSettings(**settings, sampling=Sampling(**{"max_tokens": 50, **sampling}))


def policy(server: ModelServer, patience: Mapping[str, object] | None = None, **settings: object) -> TerminalPolicy:
    return TerminalPolicy("asked", endpoint(server, **(patience or {})), agent(**settings))
