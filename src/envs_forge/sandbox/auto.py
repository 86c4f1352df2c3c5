"""Chooses the engine: `oci` where its probe passes, else `docker`; bundles with a network run on `docker`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from envs_forge.errors import PrerequisiteError, UserError
from envs_forge.sandbox.engine import Engine, Image, Sandbox, SandboxSpec, Snapshot

NAMES = ("auto", "oci", "docker")


class RoutedEngine:
    """An engine without networks, and another one, made when it is first needed, for what wants one.

    Implements `Engine`; it goes by the name of the first.

    Args:
        offline: Makes the sandboxes that have no network.
        networked: Makes the engine for the others.
    """

    def __init__(self, offline: Engine, networked: Callable[[], Engine]) -> None:
        self._offline = offline
        self._make_networked = networked
        self._networked: Engine | None = None
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """Name of the engine for sandboxes without a network."""
        return self._offline.name

    def engine_for(self, network: bool) -> Engine:
        """The engine that a bundle's sandboxes are made by; one bundle stays on one engine."""
        if not network:
            return self._offline
        with self._lock:
            if self._networked is None:
                self._networked = self._make_networked()
            return self._networked

    def describe(self) -> Mapping[str, str]:
        """See `Engine.describe`. That of the first."""
        return self._offline.describe()

    def create(self, base: Image | Snapshot, spec: SandboxSpec) -> Sandbox:
        """See `Engine.create`. A snapshot must come from the engine that the spec leads to."""
        return self.engine_for(spec.network or spec.shared).create(base, spec)

    def reap(self) -> int:
        """See `Engine.reap`. Both engines' leftovers go."""
        return self._offline.reap() + self.engine_for(network=True).reap()

    def close(self) -> None:
        """See `Engine.close`."""
        self._offline.close()
        with self._lock:
            if self._networked is not None:
                self._networked.close()


def make_engine(name: str = "auto") -> Engine:
    """Make the engine called `name`.

    Args:
        name: `auto`, `oci` or `docker`. With `auto` and `oci`, sandboxes whose spec asks for a network are
            made by the docker engine.

    Raises:
        UserError: There is no such engine.
        PrerequisiteError: The engine cannot run here; the message says why and what to do.
    """
    if name not in NAMES:
        raise UserError(f"there is no engine {name!r}", fix=f"choose one of {', '.join(NAMES)}")
    if name == "docker":
        return _docker()
    try:
        return RoutedEngine(_oci(), _docker)
    except PrerequisiteError:
        if name == "oci":
            raise
        return _docker()


def _docker() -> Engine:
    from envs_forge.sandbox.docker.engine import DockerEngine

    return DockerEngine()


def _oci() -> Engine:
    from envs_forge.sandbox.oci import OciEngine

    return OciEngine()
