"""The contract that every sandbox engine keeps: `Engine` makes a `Sandbox`, a `Sandbox` runs commands.

Everything that runs in a sandbox is hostile, and so is everything that comes out of it: exit codes, output,
file names, archives, links. All paths given to these methods are paths inside the sandbox unless said otherwise.
All methods may be called from several threads; one sandbox is used by one thread at a time.
Every method raises `InfrastructureError` (or a subclass) when the machine fails, and never for what the
sandboxed process did: that is data in the result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Protocol

from envs_forge.errors import EngineError

MiB = 1024 * 1024
DEFAULT_OUTPUT_LIMIT = 1 * MiB


@dataclass(frozen=True, slots=True)
class Limits:
    """What one sandbox may use. The wall clock is limited per `exec`."""

    cpus: float = 1.0
    memory_mb: int = 2048
    pids: int = 512
    disk_mb: int = 10240
    """Cap on what the sandbox may write to its filesystem; a write beyond it fails with ENOSPC inside."""
    cores: int | None = None
    """How many processors programs see; None is all of the machine's. `cpus` is the share of time on them."""


@dataclass(frozen=True, slots=True)
class Image:
    """A local image, ready to start from. `id` is the engine's content digest (`sha256:…`)."""

    id: str
    tag: str
    env: Mapping[str, str] = field(default_factory=dict)
    workdir: str = "/app"
    user: str = ""


@dataclass(frozen=True, slots=True)
class SandboxSpec:
    """How a sandbox is made.

    Attributes:
        limits: Resource limits.
        network: False gives loopback only. Engines that cannot give a network raise `EngineError(code="no-network")`.
        env: Variables laid over the image's own.
        hostname: Host name inside.
        fresh_dirs: Absolute directories that must exist, be root's and be empty, whatever the image or snapshot
            holds there (a file, a link, a full or read-only directory, a mount point).
        companions: Containers that live beside it as long as it does, in a network that they share with it: name →
            settings in compose's words, with an `image` that is here. Engines that cannot raise
            `EngineError(code="no-companions")`.
        beside: Id of a living sandbox whose companions this one shares.
    """

    limits: Limits = Limits()
    network: bool = False
    env: Mapping[str, str] = field(default_factory=dict)
    hostname: str = "forge"
    fresh_dirs: Sequence[str] = ()
    companions: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    beside: str = ""

    @property
    def shared(self) -> bool:
        """Whether there are other containers in its network."""
        return bool(self.companions or self.beside)


class CannotStartError(EngineError):
    """What a bundle asks for does not start: its own fault, not the machine's."""


@dataclass(frozen=True, slots=True)
class ExecResult:
    """What one command did.

    `exit_code` is None when the command did not end by itself (`timed_out`). Output beyond the limit is dropped
    and `truncated` set; the process is not blocked by it. `oom` says that the memory limit killed something; `limits`
    names others that were met, `disk` or `processes`, as far as the engine notices.
    """

    exit_code: int | None
    stdout: bytes
    stderr: bytes
    duration_s: float
    timed_out: bool = False
    truncated: bool = False
    oom: bool = False
    limits: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FileChange:
    """One path that differs from what a sandbox was made from. A path that was replaced comes twice: deleted, then not.

    A directory that merely holds something changed may come too.
    """

    path: str
    deleted: bool = False


class Snapshot(Protocol):
    """A sandbox's filesystem, frozen as a new lower layer. Usable as the base of any number of sandboxes."""

    @property
    def image(self) -> Image:
        """The image that the sandbox was started from, with its ENV, WORKDIR and USER."""
        ...

    def changes(self) -> Sequence[FileChange]:
        """What the sandbox changed, directories before what is in them; not what the engine puts into every sandbox."""
        ...

    def release(self) -> None:
        """Free what the snapshot holds. Sandboxes made from it must be destroyed first. Idempotent."""
        ...


class Sandbox(Protocol):
    """One isolated container. Use as a context manager; leaving it destroys it."""

    @property
    def id(self) -> str:
        """Unique name, also the label of everything that the engine made for it."""
        ...

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
        """Run one command to its end.

        Args:
            argv: The command, not passed through a shell.
            timeout: Seconds of wall clock; then the command's whole process tree is killed and `timed_out` is set.
            env: Variables laid over the image's and the sandbox's.
            user: As in USER of a Dockerfile; default the image's.
            cwd: Default the image's WORKDIR.
            stdin: Bytes to feed; None is /dev/null.
            output_limit: Bytes kept of each stream.

        Returns:
            The result; processes that the command left in the background live on until `destroy`.
        """
        ...

    def exec_prefix(self) -> list[str]:
        """A host command line to which an argv can be appended so that it runs in this sandbox (stdio passed on)."""
        ...

    def put(self, target: str, archive: BinaryIO) -> None:
        """Unpack an uncompressed tar stream under the directory `target` (made if missing), owners as in the tar.

        Links that the sandbox planted never lead the engine out of the sandbox's root.
        """
        ...

    def get(self, path: str) -> AbstractContextManager[BinaryIO]:
        """A tar stream of `path` as it lies in the sandbox (links not followed out of the root).

        Raises:
            FileNotFoundError: There is nothing at `path`.
        """
        ...

    def snapshot(self) -> Snapshot:
        """Kill every process of the sandbox and freeze its filesystem. Afterwards only `destroy` may be called."""
        ...

    def destroy(self) -> None:
        """Kill all processes and remove everything. Idempotent; a snapshot taken before stays valid."""
        ...

    def __enter__(self) -> Sandbox: ...

    def __exit__(self, *exc: object) -> None: ...


class Engine(Protocol):
    """Makes sandboxes from images or snapshots."""

    @property
    def name(self) -> str:
        """`oci` or `docker`."""
        ...

    def describe(self) -> Mapping[str, str]:
        """What is in force, for people: what runs sandboxes, how disks are capped, user namespaces."""
        ...

    def create(self, base: Image | Snapshot, spec: SandboxSpec) -> Sandbox:
        """Make and start a sandbox."""
        ...

    def reap(self) -> int:
        """Remove what dead processes left behind (containers, mounts, cgroups, networks); returns how many things.

        What a living process owns is never touched.
        """
        ...

    def close(self) -> None:
        """Destroy whatever this process still has open. Idempotent."""
        ...
