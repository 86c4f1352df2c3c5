"""The bundle: a terminal task as data, frozen, in memory."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict

MAIN_SERVICE = "main"
"""What Harbor calls the container that the agent works in."""


class Part(StrEnum):
    """The five parts of a bundle and the letters of the method."""

    INSTRUCTION = "I"
    DATA = "D"
    SOLUTION = "S"
    TESTS = "T"
    IMAGE = "E"


class BundleFile(BaseModel):
    """One file or symbolic link of a bundle.

    A regular file has `data`; a symbolic link has `target` (kept as written, verified not to leave the bundle).
    `mode` holds the permission bits only (0o644, 0o755 …).
    """

    model_config = ConfigDict(frozen=True)

    data: bytes = b""
    mode: int = 0o644
    target: str | None = None


class EnvironmentConfig(BaseModel):
    """What the sandbox needs, normalised from `[environment]` whatever the spelling in the file."""

    model_config = ConfigDict(frozen=True)

    build_timeout_sec: float = 600.0
    docker_image: str | None = None
    cpus: float = 1.0
    memory_mb: int = 2048
    storage_mb: int = 10240
    network: bool = True
    """Whether the task may reach a network. Harbor's default for a missing key is yes."""
    allowed_hosts: tuple[str, ...] = ()
    """Set when the network is to be limited to these hosts (`network_mode = "allowlist"`)."""
    env: Mapping[str, str] = {}
    """Values may be templates `${NAME}` or `${NAME:-default}` over the host's variables."""
    workdir: str | None = None
    """Where commands run, over the image's WORKDIR."""
    os: str = "linux"
    gpus: int = 0
    tpu: bool = False
    healthcheck: str | None = None
    """Command that must succeed before the agent starts."""
    mcp_servers: int = 0


class Artifact(BaseModel):
    """What a separate verifier gets of the agent's container: a path in it, patterns of what to leave out."""

    model_config = ConfigDict(frozen=True)

    source: str
    exclude: tuple[str, ...] = ()
    service: str | None = None


class Collect(BaseModel):
    """A command that runs after the agent, before anything is taken from its container."""

    model_config = ConfigDict(frozen=True)

    command: str
    service: str = MAIN_SERVICE
    timeout_sec: float = 60.0


class VerifierMode(StrEnum):
    """Where the tests run: over the agent's filesystem, or in an image of their own that gets the artifacts only."""

    SHARED = "shared"
    SEPARATE = "separate"


class TaskConfig(BaseModel):
    """Normalised view of `task.toml`. The file's own text, unknown keys and all, stays in `Bundle.files`."""

    model_config = ConfigDict(frozen=True)

    name: str | None = None
    agent_timeout_sec: float = 600.0
    verifier_timeout_sec: float = 600.0
    verifier_env: Mapping[str, str] = {}
    solution_env: Mapping[str, str] = {}
    environment: EnvironmentConfig = EnvironmentConfig()
    schema_version: str = "1.4"
    agent_user: str | None = None
    agent_network: bool | None = None
    """Network of the agent's phase where it differs from the environment's."""
    verifier_user: str | None = None
    verifier_network: bool | None = None
    verifier_mode: VerifierMode = VerifierMode.SHARED
    verifier_environment: EnvironmentConfig | None = None
    """The separate verifier's own environment; None means a fresh copy of `environment`."""
    collect: tuple[Collect, ...] = ()
    artifacts: tuple[Artifact, ...] = ()
    allowlist: bool = False
    """Whether any of its networks is to be limited to some hosts."""
    steps: tuple[str, ...] = ()
    """Names of the steps of a multi-step task; empty for a usual one."""
    metadata: Mapping[str, Any] = {}


class Bundle(BaseModel):
    """A whole task directory. `files` maps POSIX paths relative to the directory to their content.

    `files` holds everything, `instruction.md` and `task.toml` among it, so writing a bundle that was read gives
    the same directory back. `config` is derived from `task.toml` when the bundle is read.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    files: Mapping[str, BundleFile]
    config: TaskConfig

    @property
    def instruction(self) -> str:
        """What the agent is told.

        That is `instruction.md` without a byte-order mark, with LF line ends and, as in Harbor, without leading
        canary comments. Empty for a multi-step task, which has none of its own.
        """
        file = self.files.get("instruction.md", BundleFile())
        text = file.data.decode("utf-8-sig", errors="replace").replace("\r\n", "\n")
        return _without_canary(text)

    @property
    def provenance(self) -> Mapping[str, Any]:
        """The `[metadata.envs_forge]` table, empty for a foreign bundle."""
        table = self.config.metadata.get("envs_forge", {})
        return table if isinstance(table, Mapping) else {}


def _without_canary(text: str) -> str:
    """`text` without the marks at its beginning by which a leak into training data is found."""
    lines = text.split("\n")
    start = 0
    while start < len(lines) and _is_canary(lines[start].strip()):
        start += 1
    while start and start < len(lines) and not lines[start].strip():
        start += 1
    return "\n".join(lines[start:])


def _is_canary(line: str) -> bool:
    comment = line.startswith("#") or (line.startswith("<!--") and line.endswith("-->"))
    return comment and "canary" in line.lower()
