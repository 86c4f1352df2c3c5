"""`harbor:NAME`: one of Harbor's agents, in one of its environments, judged by its verifier."""

from __future__ import annotations

import os
import tempfile
import threading
import uuid
from pathlib import Path

from envs_forge.config import HarborSettings
from envs_forge.errors import InfrastructureError
from envs_forge.rollout.hostprocess import HostResult, run_host_program
from envs_forge.rollout.policies.harbor.install import SWITCHES, Harbor, find_harbor
from envs_forge.rollout.policies.harbor.leftovers import remove_leftovers
from envs_forge.rollout.policies.harbor.result import read_result
from envs_forge.rollout.policies.harbor.task import DOCKER, write_task
from envs_forge.rollout.policy import Attempt, PolicyIdentity
from envs_forge.sandbox.runtime import Prepared
from envs_forge.sandbox.verification import Verification

OUTPUT_LIMIT = 64 << 10


class HarborPolicy:
    """A `ForeignPolicy`: each rollout is one call of `harbor trial start`.

    Args:
        agent: Harbor's name of the agent, or what else its `--agent` takes.
        settings: Where Harbor is and how it runs.
        model: The agent's model, as Harbor names models.
        base_url: The endpoint of the model, where it is not the provider's own.
        harbor: Where Harbor is; by default it is looked for, and installed where there is none.

    Raises:
        UserError: The Python that was named has no Harbor.
        PrerequisiteError: There is none, and none can be installed here.
    """

    def __init__(
        self,
        agent: str,
        settings: HarborSettings,
        *,
        model: str | None = None,
        base_url: str | None = None,
        harbor: Harbor | None = None,
    ) -> None:
        self._agent = agent
        self._settings = settings
        self._model = model
        self._base_url = base_url
        self._harbor = harbor or find_harbor(settings.python)
        self._cancelled = threading.Event()
        self.verifier = f"Harbor {self._harbor.version}, environment {settings.environment}"
        self.identity = PolicyIdentity(
            kind="harbor",
            name=agent,
            version=self._harbor.version,
            settings={
                "verifier": self.verifier,
                "model": model,
                **settings.model_dump(mode="json", include={"environment", "network", "options", "arguments"}),
            },
        )

    def cancel(self) -> None:
        """End every trial under way, and every later one, at once. Callable from any thread."""
        self._cancelled.set()

    def run_whole(self, prepared: Prepared, *, timeout_s: float) -> tuple[Attempt, Verification]:
        """One trial; see `ForeignPolicy`."""
        name = f"forge-{uuid.uuid4().hex[:12]}"
        env = {**os.environ, **SWITCHES}
        with tempfile.TemporaryDirectory(prefix="forge-harbor-") as scratch:
            folder = Path(scratch)
            task, arguments = write_task(prepared, folder, self._settings.environment, network=self._settings.network)
            command = [*self._command(task, timeout_s), "--trials-dir", str(folder / "trials"), "--trial-name", name]
            done = self._run([*command, *arguments], folder, env, self._patience(prepared, timeout_s))
            if done.exit_code is None:
                if self._settings.environment == DOCKER:
                    remove_leftovers(name, folder, env)
                raise _killed(done)
            return read_result(folder / "trials" / name, told=done.tail.decode(errors="replace"))

    def _run(self, command: list[str], folder: Path, env: dict[str, str], seconds: float) -> HostResult:
        try:
            return run_host_program(
                command,
                cwd=folder,
                env=env,
                timeout_s=seconds,
                output_limit=OUTPUT_LIMIT,
                cancelled=self._cancelled.is_set,
            )
        except OSError as error:
            raise InfrastructureError(f"harbor could not be started: {error}", code="harbor") from error

    def _command(self, task: Path, timeout_s: float) -> list[str]:
        settings = self._settings
        command = [str(self._harbor.command), "trial", "start", "--path", str(task), "--agent", self._agent]
        command += ["--env", settings.environment, "--agent-timeout", f"{timeout_s:g}"]
        command += ["--model", self._model] if self._model else []
        command += ["--base-url", self._base_url] if self._base_url else []
        for name, value in sorted(settings.options.items()):
            command += ["--agent-kwarg", f"{name}={value}"]
        return [*command, *settings.arguments]

    def _patience(self, prepared: Prepared, timeout_s: float) -> float:
        """Seconds until Harbor itself counts as hanging."""
        return timeout_s + prepared.bundle.config.verifier_timeout_sec + self._settings.around_s


def _killed(done: HostResult) -> InfrastructureError:
    if done.cancelled:
        return InfrastructureError("harbor was cancelled", code="cancelled")
    return InfrastructureError(f"harbor did not end within {done.duration_s:.0f} s", code="harbor")
