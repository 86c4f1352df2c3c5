"""One sandbox of the `oci` engine: a root filesystem, and a container in it."""

from __future__ import annotations

import io
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import BinaryIO

from envs_forge.errors import EngineError
from envs_forge.sandbox.chunks import ChunkReader
from envs_forge.sandbox.engine import DEFAULT_OUTPUT_LIMIT, ExecResult, Image, SandboxSpec, Snapshot
from envs_forge.sandbox.interrupts import deferred_interrupts
from envs_forge.sandbox.oci.command import BadCommand, Command
from envs_forge.sandbox.oci.container import PID_1, Container, remove
from envs_forge.sandbox.oci.drain import Drain
from envs_forge.sandbox.oci.failures import machine_errors, sandbox_errors
from envs_forge.sandbox.oci.filesystem import Filesystem
from envs_forge.sandbox.oci.pack import pack
from envs_forge.sandbox.oci.rootfs import Root
from envs_forge.sandbox.oci.run import Run
from envs_forge.sandbox.oci.slots import SlotPool
from envs_forge.sandbox.oci.snapshot import Base, OciSnapshot
from envs_forge.sandbox.oci.spec import runc_spec
from envs_forge.sandbox.oci.state import Home
from envs_forge.sandbox.oci.tools import tool
from envs_forge.sandbox.oci.unpack import unpack
from envs_forge.sandbox.oci.upper import prepare
from envs_forge.sandbox.oci.users import Identity, UnknownUser, identify

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
CANNOT_RUN = 126


class OciSandbox:
    """Implements `Sandbox`; made by `OciEngine`, and started by `start`.

    Args:
        name: Its name, and that of its control groups.
        home: The engine's directory.
        slots: Where its disk slot comes from.
        drain: Reads what its background processes write.
        base: What it stands on.
        image: The image with the ENV, WORKDIR and USER that hold here.
        spec: How it is made.
        snapshots: The engine's snapshots; those taken of this sandbox join them.
        on_destroyed: Called once it is gone.
    """

    def __init__(
        self,
        name: str,
        home: Home,
        *,
        slots: SlotPool,
        drain: Drain,
        base: Base,
        image: Image,
        spec: SandboxSpec,
        snapshots: set[OciSnapshot],
        on_destroyed: Callable[[], None],
    ) -> None:
        self._name = name
        self._home = home
        self._slots = slots
        self._drain = drain
        self._base = base
        self._image = image
        self._workdir = image.workdir or "/"
        self._spec = spec
        self._snapshots = snapshots
        self._on_destroyed = on_destroyed
        self._folder = home.sandboxes / name
        self._files = Filesystem(name, self._folder, base.lowers, slots)
        self._container: Container | None = None
        self._state = "open"
        self._lock = threading.RLock()
        base.hold()

    @property
    def id(self) -> str:
        """See `Sandbox.id`."""
        return self._name

    def start(self) -> None:
        """Mount the filesystem. The container starts with the first command: who only reads or writes needs none.

        Raises:
            InfrastructureError: It failed; `destroy` removes what is there.
        """
        self._home.check_disk()
        with machine_errors("make a sandbox"):
            self._folder.mkdir(mode=0o700)
        hostname = None if self._base.snapshot is not None else self._spec.hostname
        lowers = self._base.lowers
        self._files.mount(
            self._spec.limits.disk_mb, lambda upper: prepare(upper, lowers, self._spec.fresh_dirs, hostname)
        )
        with Root(self._files.merged) as root, sandbox_errors():
            root.make_directories(self._workdir)

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
        container = self._running()
        began = time.monotonic()
        try:
            who = self._who(user)
            content = Command(argv, self._environment(who, env), cwd or self._workdir, who).encode()
        except (UnknownUser, BadCommand) as error:
            return ExecResult(CANNOT_RUN, b"", f"envs-forge: {error}\n".encode(), time.monotonic() - began)
        with machine_errors("run a command"):
            result = Run(container, self._drain, output_limit).run(content, stdin, began + timeout)
        if self._state == "destroyed":
            raise EngineError("the sandbox was destroyed while a command ran in it", code="destroyed")
        self._base.layers.check()
        self._home.check_disk()
        return replace(result, limits=(*result.limits, "disk")) if self._files.is_full() else result

    def exec_prefix(self) -> list[str]:
        """See `Sandbox.exec_prefix`."""
        self._running().registered()
        who = self._who(None)
        variables = [
            part for key, value in self._environment(who, None).items() for part in ("--env", f"{key}={value}")
        ]
        groups = [part for group in who.groups for part in ("--additional-gids", str(group))]
        user = ["--user", f"{who.uid}:{who.gid}", *groups]
        runc = [tool("runc"), "--root", str(self._home.runtime), "exec"]
        return [*runc, "--cwd", self._workdir, *user, *variables, self._name]

    def put(self, target: str, archive: BinaryIO) -> None:
        """See `Sandbox.put`."""
        self._must_be_open()
        with Root(self._files.merged) as root, sandbox_errors():
            unpack(root, target, archive)
        self._home.check_disk()

    @contextmanager
    def get(self, path: str) -> Iterator[BinaryIO]:
        """See `Sandbox.get`."""
        self._must_be_open()
        with Root(self._files.merged) as root, closing(pack(root, path)) as pieces:
            yield io.BufferedReader(ChunkReader(pieces))
        self._base.layers.check()

    def snapshot(self) -> Snapshot:
        """See `Sandbox.snapshot`."""
        with deferred_interrupts(), self._lock:
            self._must_be_open()
            self._end_container()
            self._files.unmount()
            self._base.layers.check()
            self._home.check_disk()
            slot, upper = self._files.give_upper()
            name, slots, forget = self._name, self._slots, self._snapshots.discard

            def free(snapshot: OciSnapshot) -> None:
                slots.give_back(slot, name)
                forget(snapshot)

            frozen = OciSnapshot(self._image, self._base, upper, free)
            self._snapshots.add(frozen)
            self._state = "frozen"
            return frozen

    def destroy(self) -> None:
        """See `Sandbox.destroy`."""
        with deferred_interrupts(), self._lock:
            if self._state == "gone":
                return
            self._state = "destroyed"
            self._end_container()
            self._files.remove()
            shutil.rmtree(self._folder, ignore_errors=True)
            self._base.let_go()
            self._state = "gone"
            self._on_destroyed()

    def __enter__(self) -> OciSandbox:
        return self

    def __exit__(self, *exc: object) -> None:
        self.destroy()

    def _start_container(self) -> None:
        spec = runc_spec(str(self._files.merged), PID_1, self._spec.hostname, self._spec.limits, f"/{self._name}")
        self._container = Container.start(self._name, self._folder, self._home.runtime, spec)

    def _end_container(self) -> None:
        """Kill everything in it; of one that never came up, remove what runc made."""
        if self._container is not None:
            self._container.end()
            self._container = None
        else:
            remove(self._name, self._home.runtime)

    def _running(self) -> Container:
        """The container, started if it is not; a new one over the same files when the last one's PID 1 was killed."""
        with self._lock:
            self._must_be_open()
            if self._container is not None and not self._container.is_alive():
                self._end_container()
            if self._container is None:
                self._start_container()
            assert self._container is not None
            return self._container

    def _must_be_open(self) -> None:
        if self._state != "open":
            raise EngineError(f"the sandbox is {self._state}", code="destroyed")

    def _who(self, user: str | None) -> Identity:
        with Root(self._files.merged) as root:
            return identify(root, user if user is not None else self._image.user)

    def _environment(self, who: Identity, extra: Mapping[str, str] | None) -> dict[str, str]:
        usual = {"PATH": PATH, "HOSTNAME": self._spec.hostname, "HOME": who.home}
        return {**usual, **self._image.env, **self._spec.env, **(extra or {})}
