"""One container as a `Sandbox`."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from typing import BinaryIO

import docker
from docker.errors import APIError, NotFound

from envs_forge.sandbox.chunks import ChunkReader
from envs_forge.sandbox.docker.command import Command, NotRunning, Runner
from envs_forge.sandbox.docker.connection import cli, translated
from envs_forge.sandbox.docker.fresh_dirs import directory_archive
from envs_forge.sandbox.docker.holdings import Holdings
from envs_forge.sandbox.docker.link_local import shut_off
from envs_forge.sandbox.docker.oom import KILLED, OomWatch
from envs_forge.sandbox.docker.output import Output
from envs_forge.sandbox.docker.snapshot import DockerSnapshot, changes_of, commit
from envs_forge.sandbox.docker.transfer import is_no_directory, open_archive, rerooted
from envs_forge.sandbox.docker.volumes import save_volumes
from envs_forge.sandbox.engine import DEFAULT_OUTPUT_LIMIT, ExecResult, Image, SandboxSpec, Snapshot
from envs_forge.sandbox.interrupts import deferred_interrupts

CHUNK = 256 * 1024
TOO_LARGE = 128 + 25
"""Exit code after SIGXFSZ: a single file was to outgrow the disk limit."""


class DockerSandbox:
    """A running container. Implements `Sandbox`; made by `DockerEngine`.

    Args:
        client: Connection to the engine.
        name: Name of the container.
        container: Id of the container.
        image: The image with the ENV, WORKDIR and USER that hold here.
        spec: How it was made.
        skew: Seconds that the engine's clock is ahead of ours.
        holdings: Where it and its snapshots are noted while they are there.
        on_destroyed: Called once it is gone.
    """

    def __init__(
        self,
        client: docker.APIClient,
        name: str,
        container: str,
        image: Image,
        spec: SandboxSpec,
        *,
        skew: float,
        holdings: Holdings,
        on_destroyed: Callable[[], None],
    ) -> None:
        self._client = client
        self._name = name
        self._container = container
        self._image = image
        self._spec = spec
        self._runner = Runner(client, container)
        self._oom = OomWatch(client, container, skew)
        self._holdings = holdings
        self._on_destroyed = on_destroyed
        self._destroyed = False
        self._overfull = False
        holdings.add(name, self.destroy)

    @property
    def id(self) -> str:
        """See `Sandbox.id`."""
        return self._name

    def exec(
        self,
        argv: Sequence[str],
        *,
        timeout: float,
        env: Mapping[str, str] | None = None,
        user: str | None = None,
        cwd: str | None = None,
        stdin: bytes | None = None,
        output_limit: int = DEFAULT_OUTPUT_LIMIT,
    ) -> ExecResult:
        """See `Sandbox.exec`."""
        laid_over = {**self._spec.env, **(env or {})}
        who = user or self._image.user or None
        command = Command(argv, timeout, laid_over, who, cwd or self._image.workdir, stdin)
        output = Output(output_limit)
        clock, started = time.monotonic(), time.time()
        if self._overfull:
            return ExecResult(KILLED, b"", self._overfull_note(), 0.0, limits=("disk",))
        try:
            code = self._runner.run(command, output).exit_code
        except NotRunning:
            self._revive()
            code = self._runner.run(command, output).exit_code
        if code is None and not self._overfull and not self._runner.kill():
            self._revive()
        with translated("look at a sandbox"):
            oom = self._oom.happened_since(started, code)
        return ExecResult(
            exit_code=code,
            stdout=bytes(output.stdout),
            stderr=bytes(output.stderr) + (self._overfull_note() if self._overfull else b""),
            duration_s=time.monotonic() - clock,
            timed_out=code is None,
            truncated=output.truncated,
            oom=oom,
            limits=("disk",) if self._overfull or code == TOO_LARGE else (),
        )

    def exec_prefix(self) -> list[str]:
        """See `Sandbox.exec_prefix`."""
        variables = [part for key, value in self._spec.env.items() for part in ("-e", f"{key}={value}")]
        who = ["-u", self._image.user] if self._image.user else []
        return [*cli(), "exec", "-i", "-w", self._image.workdir, *who, *variables, self._container]

    def put(self, target: str, archive: BinaryIO) -> None:
        """See `Sandbox.put`.

        Raises:
            NotADirectoryError: Something in the sandbox is in the way of `target`.
        """
        with rerooted(archive, target) as whole, translated("put files into a sandbox"):
            if self._unpacked(whole):
                return
            self._unpacked(io.BytesIO(directory_archive(target)))
            whole.seek(0)
            if self._unpacked(whole):
                return
        raise NotADirectoryError(f"something in the sandbox is in the way of {target}")

    @contextmanager
    def get(self, path: str) -> Iterator[BinaryIO]:
        """See `Sandbox.get`."""
        with translated("get files from a sandbox"):
            response = open_archive(self._client, self._container, path)
        if response is None:
            raise FileNotFoundError(f"nothing at {path} in the sandbox")
        try:
            yield io.BufferedReader(ChunkReader(_guarded(response.iter_content(CHUNK))))
        finally:
            response.close()  # or the engine would keep the container locked until all of it was read

    def snapshot(self) -> Snapshot:
        """See `Sandbox.snapshot`."""
        with translated("take a snapshot"):
            self._kill()
            volumes = save_volumes(self._client, self._container)
            changes = changes_of(self._client, self._container)
            layer = commit(self._client, self._container)
            return DockerSnapshot(self._client, self._image, layer, volumes, changes, self._holdings)

    def destroy(self) -> None:
        """See `Sandbox.destroy`."""
        if self._destroyed:
            return
        with deferred_interrupts(), translated("remove a sandbox"):
            remove_container(self._client, self._container)
            self._destroyed = True
            self._holdings.drop(self._name)
            self._on_destroyed()

    def stop_overfull(self) -> None:
        """Kill everything in it for good: it wrote more than its disk limit. Called by the watcher."""
        self._overfull = True
        with translated("stop a sandbox"):
            self._kill()

    def __enter__(self) -> DockerSandbox:
        return self

    def __exit__(self, *exc: object) -> None:
        self.destroy()

    def _unpacked(self, archive: BinaryIO) -> bool:
        """Unpack at the root; False when something that is no directory is in the way."""
        try:
            self._client.put_archive(self._container, "/", archive)
        except APIError as error:
            if not is_no_directory(error):
                raise
            return False
        return True

    def _overfull_note(self) -> bytes:
        return f"envs-forge: stopped, more was written than the limit of {self._spec.limits.disk_mb} MB\n".encode()

    def _revive(self) -> None:
        """Start the container again with nothing running in it; its files are as they were."""
        with translated("restart a sandbox"):
            self._kill()
            self._client.start(self._container)
            if self._spec.network:
                shut_off(self._client, self._container)

    def _kill(self) -> None:
        try:
            self._client.kill(self._container)
        except APIError as error:
            if error.status_code != HTTPStatus.CONFLICT:
                raise


def remove_container(client: docker.APIClient, container: str) -> None:
    """Kill and remove a container with its volumes; one that is gone or on its way out is fine."""
    try:
        client.remove_container(container, force=True, v=True)
    except NotFound:
        return
    except APIError as error:
        if "already in progress" not in str(error.explanation):
            raise


def _guarded(chunks: Iterable[bytes]) -> Iterator[bytes]:
    with translated("send files from a sandbox"):
        yield from chunks
