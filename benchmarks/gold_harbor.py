"""Harbor's own check of a task: its agents `nop` and `oracle`, once each, in its docker environment as shipped."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from envs_forge.sandbox.docker.connection import connect

PROJECT = "com.docker.compose.project"
AGENTS = ("nop", "oracle")
SWITCHES = {"HARBOR_TELEMETRY": "0", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}


@dataclass(frozen=True, slots=True)
class Trial:
    """What one trial came to: a reward, or the name of the exception that ended it."""

    reward: float | None
    error: str

    def __str__(self) -> str:
        return self.error if self.reward is None else f"{self.reward:g}"


def run(harbor: str, tasks: Path, agent: str, concurrency: int) -> Mapping[str, Trial]:
    """Run an agent once on each task.

    Args:
        harbor: Path of the command.
        tasks: Directory of task directories.
        agent: `nop` or `oracle`.
        concurrency: Trials at once.

    Raises:
        RuntimeError: The command failed as a whole.
    """
    with tempfile.TemporaryDirectory(prefix="envs-forge-harbor-") as jobs:
        command = [harbor, "run", "-p", str(tasks), "-a", agent, "-o", jobs, "-n", str(concurrency), "-y", "-q"]
        try:
            done = subprocess.run(
                command,
                env={**os.environ, **SWITCHES},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
            )
        finally:
            remove_leftovers(tasks)
        found = trials(Path(jobs))
    if not found:
        raise RuntimeError(f"harbor ran nothing (exit code {done.returncode}): {(done.stdout + done.stderr)[-800:]}")
    return found


def remove_leftovers(tasks: Path) -> None:
    """Remove the containers and networks of trials that were ended from outside; a trial's own end removes them too."""
    client = connect()
    projects = tuple(f"{task.name[:32]}__" for task in tasks.iterdir())
    label = {"label": PROJECT}
    for container in client.containers(all=True, filters=label):
        if container["Labels"][PROJECT].startswith(projects):
            client.remove_container(container["Id"], force=True)
    for network in client.networks(filters=label):
        if network["Labels"][PROJECT].startswith(projects):
            client.remove_network(network["Id"])


def trials(jobs: Path) -> dict[str, Trial]:
    """Trials of all jobs in a folder, by the name of the task's directory."""
    return {name: trial for file in sorted(jobs.glob("*/*/result.json")) for name, trial in [_read(file)]}


def _read(file: Path) -> tuple[str, Trial]:
    result = json.loads(file.read_bytes())
    rewards = (result.get("verifier_result") or {}).get("rewards") or {}
    error = (result.get("exception_info") or {}).get("exception_type") or ""
    name = Path(str(result["task_id"]["path"])).name
    reward = rewards.get("reward")
    return name, Trial(None if reward is None else float(reward), "" if reward is not None else error or "no reward")
