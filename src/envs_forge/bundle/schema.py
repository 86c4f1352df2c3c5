"""The shape of `task.toml` as Harbor reads it (schema 1.4 and the legacy spellings), before it is normalised.

Unknown keys are ignored here, as Harbor ignores them; they live on in the file's own text.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

NAME_PATTERN = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._-]*/[a-zA-Z0-9][a-zA-Z0-9._-]*")
_SIZE = re.compile(r"\s*([0-9.eE+]+)\s*([GMK])\s*", re.IGNORECASE)
_MB_PER_UNIT = {"G": 1024.0, "M": 1.0, "K": 1 / 1024}

Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0)]
User = str | int | None
Network = Literal["no-network", "public", "allowlist"]


def megabytes(size: str) -> int:
    """A legacy size such as `2G`, `512M` or `4096K` in MiB.

    Raises:
        ValueError: It has another form.
    """
    match = _SIZE.fullmatch(size)
    if match is None:
        raise ValueError(f"size {size!r} is not of the form '2G', '512M' or '4096K'")
    return int(float(match[1]) * _MB_PER_UNIT[match[2].upper()])


class Section(BaseModel):
    """A table of the file."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class NetworkKeys(Section):
    """The two keys that `[environment]`, `[agent]` and `[verifier]` share."""

    network_mode: Network | None = None
    allowed_hosts: tuple[str, ...] | None = None

    @model_validator(mode="after")
    def _hosts_need_allowlist(self) -> NetworkKeys:
        if self.network_mode != "allowlist" and self.allowed_hosts:
            raise ValueError("allowed_hosts needs network_mode = 'allowlist'")
        return self


class PhaseKeys(NetworkKeys):
    """The same keys where they override the environment's: hosts without a mode say nothing."""

    @model_validator(mode="after")
    def _hosts_need_mode(self) -> PhaseKeys:
        if self.network_mode is None and self.allowed_hosts is not None:
            raise ValueError("allowed_hosts needs network_mode = 'allowlist'")
        return self


class Healthcheck(Section):
    """`[environment.healthcheck]`."""

    command: str


class RawEnvironment(NetworkKeys):
    """`[environment]` or `[verifier.environment]`."""

    build_timeout_sec: Seconds = 600.0
    docker_image: str | None = None
    os: str = "linux"
    cpus: Amount | None = None
    memory_mb: Count | None = None
    storage_mb: Count | None = None
    gpus: Count | None = None
    tpu: dict[str, Any] | None = None
    mcp_servers: tuple[dict[str, Any], ...] = ()
    env: dict[str, str] = {}
    healthcheck: Healthcheck | None = None
    workdir: str | None = None
    allow_internet: bool | None = None
    memory: int | None = None
    storage: int | None = None

    @field_validator("os", mode="before")
    @classmethod
    def _os(cls, value: Any) -> Any:
        lowered = value.lower() if isinstance(value, str) else value
        if lowered not in ("linux", "windows"):
            raise ValueError("os is 'linux' or 'windows'")
        return lowered

    @field_validator("memory", "storage", mode="before")
    @classmethod
    def _legacy_size(cls, value: Any) -> Any:
        """Read `2G`; as in Harbor a value that is no string is dropped."""
        return megabytes(value) if isinstance(value, str) else None

    @model_validator(mode="after")
    def _spellings_agree(self) -> RawEnvironment:
        for old, new in (("memory", "memory_mb"), ("storage", "storage_mb")):
            legacy, current = getattr(self, old), getattr(self, new)
            if legacy is not None and current is not None and legacy != current:
                raise ValueError(f"{old} ({legacy} MiB) and {new} ({current}) contradict each other")
        return self

    @property
    def network(self) -> bool:
        """Harbor's reading: the new key wins, then the legacy one, then yes."""
        if self.network_mode is not None or self.allowed_hosts is not None:
            return self.network_mode != "no-network"
        return self.allow_internet is not False


class RawAgent(PhaseKeys):
    """`[agent]`."""

    timeout_sec: Seconds | None = None
    user: User = None


class Collect(Section):
    """`[[verifier.collect]]`."""

    command: str
    service: str = "main"
    timeout_sec: Seconds = 60.0


class RawVerifier(PhaseKeys):
    """`[verifier]`."""

    timeout_sec: Seconds = 600.0
    env: dict[str, str] = {}
    user: User = None
    environment_mode: Literal["shared", "separate"] | None = None
    environment: RawEnvironment | None = None
    collect: tuple[Collect, ...] = ()

    @model_validator(mode="after")
    def _mode_fits(self) -> RawVerifier:
        if self.environment_mode == "shared" and self.environment is not None:
            raise ValueError("environment_mode = 'shared' contradicts [verifier.environment]")
        return self


class RawSolution(Section):
    """`[solution]`."""

    env: dict[str, str] = {}


class RawPackage(Section):
    """`[task]`."""

    name: str

    @field_validator("name")
    @classmethod
    def _org_and_name(cls, value: str) -> str:
        if NAME_PATTERN.fullmatch(value) is None or ".." in value:
            raise ValueError("name has the form 'org/name': letters, digits, '.', '_', '-'")
        return value


class RawStep(Section):
    """One of `[[steps]]`."""

    name: str


class RawArtifact(Section):
    """One of `artifacts`."""

    source: str
    exclude: tuple[str, ...] = ()
    service: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _from_path(cls, data: Any) -> Any:
        return {"source": data} if isinstance(data, str) else data

    @field_validator("source")
    @classmethod
    def _stays_inside(cls, value: str) -> str:
        if ".." in value.split("/"):
            raise ValueError("source must not contain '..'")
        return value


class RawTask(Section):
    """The whole file."""

    schema_version: str = "1.4"
    task: RawPackage | None = None
    metadata: dict[str, Any] = {}
    verifier: RawVerifier = RawVerifier()
    agent: RawAgent = RawAgent()
    environment: RawEnvironment = RawEnvironment()
    solution: RawSolution = RawSolution()
    steps: tuple[RawStep, ...] = ()
    artifacts: tuple[RawArtifact, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _legacy_version(cls, data: Any) -> Any:
        if isinstance(data, dict) and "version" in data:
            data = {"schema_version": data["version"], **data}
        return data
