"""The `docker` engine."""

from __future__ import annotations

import atexit
import contextlib
import secrets
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import docker
from docker.errors import APIError

from envs_forge.errors import EngineError, ForgeError
from envs_forge.sandbox.docker.companions import companions_of, kill_container, start_companions
from envs_forge.sandbox.docker.connection import connect, translated
from envs_forge.sandbox.docker.container import ContainerMaker
from envs_forge.sandbox.docker.disk_watch import DiskWatch
from envs_forge.sandbox.docker.fresh_dirs import fresh_dirs_archive
from envs_forge.sandbox.docker.holdings import Holdings
from envs_forge.sandbox.docker.leftovers import left_by_the_dead, remove_left, remove_network
from envs_forge.sandbox.docker.link_local import shut_off
from envs_forge.sandbox.docker.oom import clock_skew
from envs_forge.sandbox.docker.sandbox import DockerSandbox, remove_container
from envs_forge.sandbox.docker.snapshot import DockerSnapshot
from envs_forge.sandbox.docker.volumes import load_volumes
from envs_forge.sandbox.engine import CannotStartError, Image, MiB, Sandbox, SandboxSpec, Snapshot
from envs_forge.sandbox.interrupts import deferred_interrupts


class DockerEngine:
    """Sandboxes as containers of a Docker engine. Implements `Engine`.

    Args:
        client: Connection to the engine; default the one that the `docker` command uses.

    Raises:
        PrerequisiteError: No engine answers.
    """

    def __init__(self, client: docker.APIClient | None = None) -> None:
        self._client = client or connect()
        with translated("describe itself"):
            about = self._client.info()
        self._about = _about(about)
        self._maker = ContainerMaker(self._client, int(about["NCPU"]))
        self._skew = clock_skew(about["SystemTime"])
        self._watch = DiskWatch(self._client)
        self._holdings = Holdings()
        atexit.register(self.close)

    @property
    def name(self) -> str:
        """See `Engine.name`."""
        return "docker"

    def describe(self) -> dict[str, str]:
        """See `Engine.describe`."""
        quota = self._maker.has_disk_quota
        return {**self._about, "disk cap": "quotas of the storage driver" if quota else "largest file, and a watcher"}

    def create(self, base: Image | Snapshot, spec: SandboxSpec) -> Sandbox:
        """See `Engine.create`."""
        name = f"envs-forge-{secrets.token_hex(6)}"
        self._holdings.add(name, lambda: self._remove(name))
        try:
            if spec.companions:
                self._company(name, spec)
                spec = replace(spec, companions={}, beside=name)
            with translated("make a sandbox"):
                container = self._make(name, base, spec)
                self._start(container)
                if spec.network:
                    shut_off(self._client, container)
            return self._adopt(name, container, base if isinstance(base, Image) else base.image, spec)
        except BaseException:
            with deferred_interrupts(), contextlib.suppress(ForgeError):
                self._remove(name)
            raise

    def reap(self) -> int:
        """See `Engine.reap`."""
        left = left_by_the_dead(self._client)
        for one in left:
            remove_left(self._client, one)
        return len(left)

    def close(self) -> None:
        """See `Engine.close`."""
        atexit.unregister(self.close)
        with deferred_interrupts():
            self._holdings.remove_all()
            self._watch.close()

    def _company(self, name: str, spec: SandboxSpec) -> None:
        """Start what lives beside a sandbox, and watch what it writes."""
        start_companions(self._client, name, spec)
        for container in companions_of(self._client, name):
            if spec.network:
                shut_off(self._client, container)
            if not self._maker.has_disk_quota:
                self._watch.add(container, spec.limits.disk_mb * MiB, partial(kill_container, self._client, container))

    def _make(self, name: str, base: Image | Snapshot, spec: SandboxSpec) -> str:
        if isinstance(base, DockerSnapshot):
            container = self._maker.make(name, base.layer_id, spec, workdir="/")
            load_volumes(self._client, container, base.volumes)
        elif isinstance(base, Image):
            container = self._maker.make(name, base.id, spec)
        else:
            raise EngineError("a snapshot of another engine cannot be used by the docker engine")
        if spec.fresh_dirs:
            self._client.put_archive(container, "/", fresh_dirs_archive(spec.fresh_dirs))
        return container

    def _start(self, container: str) -> None:
        try:
            self._client.start(container)
        except APIError as error:
            if '"/bin/sh"' in str(error.explanation):
                raise CannotStartError("the image has no /bin/sh that runs", code="no-shell") from error
            raise

    def _adopt(self, name: str, container: str, image: Image, spec: SandboxSpec) -> DockerSandbox:
        sandbox = DockerSandbox(
            self._client,
            name,
            container,
            image,
            spec,
            skew=self._skew,
            holdings=self._holdings,
            on_destroyed=lambda: self._gone(name, container, spec),
        )
        if not self._maker.has_disk_quota:
            self._watch.add(container, spec.limits.disk_mb * MiB, sandbox.stop_overfull)
        return sandbox

    def _gone(self, name: str, container: str, spec: SandboxSpec) -> None:
        """A sandbox is gone: so is its company, unless it was another's."""
        self._watch.remove(container)
        if spec.beside == name:
            self._remove_company(name)

    def _remove_company(self, name: str) -> None:
        with translated("remove what was beside a sandbox"):
            for companion in companions_of(self._client, name):
                self._watch.remove(companion)
                remove_container(self._client, companion)
            remove_network(self._client, name)

    def _remove(self, name: str) -> None:
        with translated("remove a sandbox"):
            remove_container(self._client, name)
        self._remove_company(name)
        self._holdings.drop(name)


def _about(info: Mapping[str, Any]) -> dict[str, str]:
    """What the engine's own description of itself says that a verdict may depend on."""
    options = info.get("SecurityOptions") or ()
    remapped = any(f"name={kind}" in option for option in options for kind in ("userns", "rootless"))
    return {
        "runtime": f"docker {info.get('ServerVersion', '')}, {info.get('DefaultRuntime', '')}",
        "cgroups": f"v{info.get('CgroupVersion', '1')}",
        "storage": str(info.get("Driver", "")),
        "user namespace": "yes" if remapped else "no: the engine runs without userns-remap and not rootless",
    }
