"""Runs one command in a container through the Engine API, and kills all of it when its time is over."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from importlib import resources
from typing import Any

import docker
from docker.errors import APIError

from envs_forge.errors import ForgeError
from envs_forge.sandbox.docker.attachment import Attachment
from envs_forge.sandbox.docker.connection import translated
from envs_forge.sandbox.docker.output import Output

KILL_TIMEOUT_S = 5.0
NOT_FOUND = (b"executable file not found", b"no such file or directory")


@dataclass(frozen=True, slots=True)
class Command:
    """What to run and how; see `Sandbox.exec`."""

    argv: Sequence[str]
    timeout: float
    env: Mapping[str, str]
    user: str | None
    cwd: str | None
    stdin: bytes | None


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended. `exit_code` is None when its time was over first."""

    exit_code: int | None


class NotRunning(Exception):
    """The container has stopped: nothing can run in it until it is started again."""


class Runner:
    """Runs commands in one container, one at a time.

    Args:
        client: Connection to the engine.
        container: Id of a running container.
    """

    def __init__(self, client: docker.APIClient, container: str) -> None:
        self._client = client
        self._container = container

    def run(self, command: Command, output: Output) -> Ended:
        """Run `command` to its end, or to the end of its time; then it is over, but may not be dead yet.

        Raises:
            NotRunning: The container has stopped.
        """
        deadline = time.monotonic() + command.timeout
        with translated("run a command"):
            exec_id = self._open(command)
            opened = self._start(exec_id, output)
            over = opened is None or self._attend(exec_id, Attachment(opened, output, command.stdin), deadline)
            state = self._settled(exec_id, deadline if over else 0.0)
        if state["Running"]:
            return Ended(None)
        if not state["Pid"]:
            return _never_started(state, output)
        return Ended(int(state["ExitCode"]))

    def kill(self) -> bool:
        """Kill what runs in the container for an exec, from inside it; False when that did not work."""
        command = Command(("/bin/sh", "-c", _script()), KILL_TIMEOUT_S, {}, "0:0", "/", None)
        with contextlib.suppress(ForgeError, NotRunning):
            if self.run(command, Output(0)).exit_code == 0:
                return not self._survivors()
        return False

    def _survivors(self) -> bool:
        """Whether any exec of the container still runs a moment after it was killed."""
        end = time.monotonic() + KILL_TIMEOUT_S
        with translated("look at what runs"):
            while time.monotonic() < end:
                ids = self._client.inspect_container(self._container)["ExecIDs"] or []
                if not any(self._is_running(exec_id) for exec_id in ids):
                    return False
                time.sleep(0.02)
        return True

    def _is_running(self, exec_id: str) -> bool:
        try:
            return bool(self._inspect(exec_id)["Running"])
        except APIError:
            return False

    def _open(self, command: Command) -> str:
        try:
            made = self._client.exec_create(
                self._container,
                list(command.argv),
                stdin=command.stdin is not None,
                environment=dict(command.env),
                user=command.user or "",
                workdir=command.cwd,
            )
        except APIError as error:
            if error.status_code == HTTPStatus.CONFLICT:
                raise NotRunning from error
            raise
        return str(made["Id"])

    def _start(self, exec_id: str, output: Output) -> Any:
        """The exec's socket; None when the engine says at once that the command cannot start."""
        try:
            return self._client.exec_start(exec_id, socket=True)
        except APIError as error:
            text = str(error.explanation)
            if "OCI runtime exec failed" not in text:
                raise
            output.stdout += text.encode()
            return None

    def _attend(self, exec_id: str, attachment: Attachment, deadline: float) -> bool:
        try:
            return attachment.pump(deadline, lambda: bool(self._inspect(exec_id)["Running"]))
        finally:
            attachment.close()

    def _settled(self, exec_id: str, deadline: float) -> dict[str, Any]:
        """The exec's state once it is not running: a command may close its output long before it ends."""
        pause = 0.005
        while True:
            state = self._inspect(exec_id)
            if not state["Running"] or time.monotonic() >= deadline:
                return state
            time.sleep(pause)
            pause = min(pause * 2, 0.1)

    def _inspect(self, exec_id: str) -> dict[str, Any]:
        return dict(self._client.exec_inspect(exec_id))


def _never_started(state: Mapping[str, Any], output: Output) -> Ended:
    """The engine's message came as output: move it to stderr, and give the code that a shell would give."""
    message = bytes(output.stdout)
    output.stdout.clear()
    output.stderr += message
    return Ended(127 if any(sign in message for sign in NOT_FOUND) else 126)


@cache
def _script() -> str:
    return resources.files("envs_forge.sandbox.docker").joinpath("kill_tree.sh").read_text()
