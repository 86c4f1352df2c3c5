"""The `oci` engine: overlayfs over an image's layers, and runc. Linux, as root."""

from __future__ import annotations

import atexit
import contextlib
import secrets
import threading
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from envs_forge.errors import EngineError, ForgeError
from envs_forge.sandbox.engine import Image, Sandbox, SandboxSpec, Snapshot
from envs_forge.sandbox.interrupts import deferred_interrupts
from envs_forge.sandbox.oci.cgroups import version
from envs_forge.sandbox.oci.drain import Drain
from envs_forge.sandbox.oci.layers import LayerStore
from envs_forge.sandbox.oci.reaping import reap_dead, remove_home
from envs_forge.sandbox.oci.sandbox import OciSandbox
from envs_forge.sandbox.oci.slots import SlotPool
from envs_forge.sandbox.oci.snapshot import Base, OciSnapshot
from envs_forge.sandbox.oci.state import Home, make_home, state_root
from envs_forge.sandbox.oci.tools import run
from envs_forge.sandbox.oci.userns import why_no_user_namespace

if TYPE_CHECKING:
    import docker

PREFIX = "envs-forge-"


@cache
def _runc_version() -> str:
    return run("runc", "--version").splitlines()[0]


class OciEngine:
    """Sandboxes from overlayfs and runc. Implements `Engine`.

    Args:
        client: Connection to the docker engine that holds the images; default the one that the `docker` command uses,
            opened with the first image.
        state: Where to keep state; default `state.state_root()`.

    Raises:
        PrerequisiteError: It cannot run here; says why and what to do. The first engine after a boot finds out by
            running a sandbox.
    """

    def __init__(self, client: docker.APIClient | None = None, *, state: Path | None = None) -> None:
        from envs_forge.sandbox.oci.probing import probe

        self._root = state or state_root()
        probe(self._root)
        self._client = client
        self._sandboxes: set[OciSandbox] = set()
        self._snapshots: set[OciSnapshot] = set()
        self._lock = threading.Lock()
        self._layers = LayerStore(self._connect, self._root / "layers")
        self._drain = Drain()
        self._home: Home | None = None
        self._pool: SlotPool | None = None
        atexit.register(self.close)

    @property
    def name(self) -> str:
        """See `Engine.name`."""
        return "oci"

    def describe(self) -> dict[str, str]:
        """What is in force, for people: runtime, control groups, disk cap, layers, user namespace."""
        pool = self._pool
        return {
            "runtime": _runc_version(),
            "cgroups": version(),
            "disk cap": pool.mechanism + (f": {pool.why_tmpfs}" if pool.why_tmpfs else "") if pool else "not used yet",
            "layers": ", ".join(sorted(self._layers.ways())) or "not used yet",
            "user namespace": f"no: {why_no_user_namespace(_runc_version())}",
            "state": str(self._root),
        }

    def create(self, base: Image | Snapshot, spec: SandboxSpec) -> Sandbox:
        """See `Engine.create`."""
        if spec.network:
            raise EngineError("the oci engine gives no network", code="no-network", fix="use the docker engine")
        if spec.shared:
            raise EngineError("the oci engine runs one container", code="no-companions", fix="use the docker engine")
        home, pool = self._started()
        ground, image = self._ground(base)
        sandbox = OciSandbox(
            PREFIX + secrets.token_hex(6),
            home,
            slots=pool,
            drain=self._drain,
            base=ground,
            image=image,
            spec=spec,
            snapshots=self._snapshots,
            on_destroyed=lambda: self._sandboxes.discard(sandbox),
        )
        self._sandboxes.add(sandbox)
        try:
            sandbox.start()
        except BaseException:
            with contextlib.suppress(ForgeError):
                sandbox.destroy()
            raise
        return sandbox

    def reap(self) -> int:
        """See `Engine.reap`."""
        return reap_dead(self._root)

    def close(self) -> None:
        """See `Engine.close`."""
        atexit.unregister(self.close)
        with deferred_interrupts():
            for sandbox in list(self._sandboxes):
                with contextlib.suppress(ForgeError):
                    sandbox.destroy()
            for snapshot in list(self._snapshots):
                snapshot.release()
            with self._lock:
                home, pool, self._home, self._pool = self._home, self._pool, None, None
            if pool is not None:
                pool.close()
            if home is not None:
                remove_home(home)

    def _started(self) -> tuple[Home, SlotPool]:
        with self._lock:
            if self._home is None or self._pool is None:
                self._home = make_home(self._root)
                self._pool = SlotPool(self._home.slots)
                atexit.register(self.close)
            return self._home, self._pool

    def _ground(self, base: Image | Snapshot) -> tuple[Base, Image]:
        if isinstance(base, OciSnapshot):
            return Base(base.lowers, base.layers, base), base.image
        if isinstance(base, Image):
            layers = self._layers.find(base.id)
            return Base(layers.directories, layers), base
        raise EngineError("a snapshot of another engine cannot be used by the oci engine")

    def _connect(self) -> docker.APIClient:
        if self._client is None:
            from envs_forge.sandbox.docker.connection import connect

            self._client = connect()
        return self._client
