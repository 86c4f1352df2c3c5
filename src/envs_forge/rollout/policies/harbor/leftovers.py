"""Removes what a trial that was killed left on this machine's engine: containers and networks that bear its name."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Mapping
from pathlib import Path

from envs_forge.rollout.hostprocess import run_host_program

_KINDS = ((["ps", "-aq"], ["rm", "-f", "-v"]), (["network", "ls", "-q"], ["network", "rm"]))


def remove_leftovers(trial: str, cwd: Path, env: Mapping[str, str]) -> None:
    """Remove every container and network whose name begins with the trial's; failures are left to the next clean-up.

    Args:
        trial: A name that no other trial has.
        cwd: Where to run.
        env: The environment in which Harbor ran, so that the same engine is meant.
    """
    for find, remove in _KINDS:
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            found = _docker([*find, "--filter", f"name={trial}__"], cwd, env).split()
            if found:
                _docker([*remove, *found], cwd, env)


def _docker(arguments: list[str], cwd: Path, env: Mapping[str, str]) -> str:
    done = run_host_program(["docker", *arguments], cwd=cwd, env=env, timeout_s=60, output_limit=1 << 16)
    return done.tail.decode(errors="replace") if done.exit_code == 0 else ""
