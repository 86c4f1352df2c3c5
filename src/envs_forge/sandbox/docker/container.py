"""Makes containers: limits, isolation and labels in the Engine API's terms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import docker
from docker.errors import APIError
from docker.types import Ulimit

from envs_forge.bundle.model import MAIN_SERVICE
from envs_forge.sandbox import owner
from envs_forge.sandbox.engine import Limits, MiB, SandboxSpec

KIND_LABEL = "envs-forge"
OWNER_LABEL = "envs-forge.owner"

KEEPER = "while sleep 2147483647 & wait $!; [ $? -ne 127 ]; do :; done; read wait"
"""PID 1 of a sandbox. It outlives everything, because the kernel shields PID 1 from signals of its own namespace
(an init with a child would end with it, after `kill -9 -1`); waiting reaps the orphans; without a `sleep` it
blocks on a stdin that nobody closes."""


def labels(kind: str) -> dict[str, str]:
    """Labels of a thing that belongs to this process: `sandbox`, `snapshot` or `network`."""
    return {KIND_LABEL: kind, OWNER_LABEL: owner.current().mark()}


class ContainerMaker:
    """Creates containers, not started, within what this engine can enforce.

    Args:
        client: Connection to the engine.
        cores: How many the engine has.
    """

    def __init__(self, client: docker.APIClient, cores: int) -> None:
        self._client = client
        self._cores = cores
        self._quota = True

    @property
    def has_disk_quota(self) -> bool:
        """Whether the engine's storage caps a container's writes by itself. Known after the first `make`."""
        return self._quota

    def make(self, name: str, image: str, spec: SandboxSpec, *, workdir: str | None = None) -> str:
        """Create a container and return its id.

        Args:
            name: Its name.
            image: Id of the image.
            spec: Limits and so on.
            workdir: Where PID 1 runs; default the image's WORKDIR, which is made if it is missing.

        Raises:
            APIError: The engine refused.
        """
        if self._quota:
            try:
                return self._create(name, image, spec, workdir, {"size": f"{spec.limits.disk_mb}m"})
            except APIError as error:
                if "storage" not in str(error.explanation).lower():
                    raise
                self._quota = False
        return self._create(name, image, spec, workdir, None)

    def _create(
        self, name: str, image: str, spec: SandboxSpec, workdir: str | None, storage: Mapping[str, str] | None
    ) -> str:
        made = self._client.create_container(
            image,
            name=name,
            entrypoint=["/bin/sh"],
            command=["-c", KEEPER],
            user="0:0",
            working_dir=workdir,
            stdin_open=True,
            hostname=spec.hostname,
            healthcheck={"test": ["NONE"]},
            labels=labels("sandbox"),
            host_config=self._host_config(spec, storage),
            networking_config=self._networking(spec),
        )
        return str(made["Id"])

    def _host_config(self, spec: SandboxSpec, storage: Mapping[str, str] | None) -> dict[str, Any]:
        limits = spec.limits
        return dict(
            self._client.create_host_config(
                network_mode=spec.beside or ("bridge" if spec.network else "none"),
                extra_hosts=None if spec.network or spec.beside else {spec.hostname: "127.0.0.1"},
                mem_limit=limits.memory_mb * MiB,
                memswap_limit=limits.memory_mb * MiB,
                nano_cpus=self._nano_cpus(limits),
                cpuset_cpus=None if limits.cores is None else f"0-{min(limits.cores, self._cores) - 1}",
                pids_limit=limits.pids,
                security_opt=["no-new-privileges"],
                ulimits=_ulimits(limits),
                storage_opt=storage,
                log_config={"Type": "none"},
            )
        )

    def _networking(self, spec: SandboxSpec) -> dict[str, Any] | None:
        """In a network with others it goes by the name of the agent's container."""
        if not spec.beside:
            return None
        endpoint = self._client.create_endpoint_config(aliases=[MAIN_SERVICE])
        return dict(self._client.create_networking_config({spec.beside: endpoint}))

    def _nano_cpus(self, limits: Limits) -> int:
        """The engine refuses more cores than there are."""
        return int(min(max(limits.cpus, 0.01), self._cores) * 1e9)


def _ulimits(limits: Limits) -> list[Ulimit]:
    """One file can never outgrow the disk limit, even where only a watcher guards the whole."""
    most = limits.disk_mb * MiB
    return [Ulimit(name="fsize", soft=most, hard=most), Ulimit(name="core", soft=0, hard=0)]
