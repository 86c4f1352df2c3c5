"""`task.toml` → `TaskConfig` and findings with lines."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from envs_forge.bundle.finding import Finding
from envs_forge.bundle.model import Artifact, Collect, EnvironmentConfig, TaskConfig, VerifierMode
from envs_forge.bundle.schema import NetworkKeys, RawEnvironment, RawTask
from envs_forge.bundle.text import decoding_finding

FILE = "task.toml"
_TABLE = re.compile(r"\s*\[\[?\s*([^\[\]]+?)\s*\]\]?\s*(#.*)?$")
_KEY = re.compile(r"\s*([A-Za-z0-9_.\-\"' ]+?)\s*=")
_AT_LINE = re.compile(r"\(at line (\d+), column \d+\)")
_AT_END = "(at end of document)"


def parse_config(data: bytes) -> tuple[TaskConfig | None, list[Finding]]:
    """Read the bytes of a `task.toml`.

    Returns:
        The configuration, or None with at least one error among the findings.
    """
    finding = decoding_finding(FILE, data)
    if finding is not None:
        return None, [finding]
    text = data.decode().replace("\r\n", "\n")
    try:
        table = tomllib.loads(text)
        raw = RawTask.model_validate(table)
    except tomllib.TOMLDecodeError as error:
        return None, [_syntax(text, error)]
    except ValidationError as error:
        return None, [_schema(text, e["loc"], e["msg"], e["input"]) for e in error.errors()]
    except RecursionError:
        return None, [Finding(code="toml-syntax", file=FILE, message="nested too deeply", fix="flatten it")]
    return _normalise(raw), []


def toml_table(data: bytes) -> dict[str, Any]:
    """The file as Python values, for readers who want more than `TaskConfig`; empty when it is not TOML."""
    try:
        return tomllib.loads(data.decode().replace("\r\n", "\n"))
    except (ValueError, RecursionError):
        return {}


def line_of(text: str, keys: Sequence[str | int]) -> int | None:
    """The line of a key path, or of the nearest table above it. None when it is not written out.

    Args:
        text: The TOML text with LF line ends.
        keys: Such as `("environment", "memory")`; positions in arrays of tables count from 0.
    """
    wanted = [str(k) for k in keys]
    best: tuple[int, int] | None = None
    table: list[str] = []
    arrays: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        head = _TABLE.match(line)
        if head:
            table = _names(head[1])
            if line.lstrip().startswith("[["):
                at = arrays[head[1]] = arrays.get(head[1], -1) + 1
                table.append(str(at))
            path = table
        else:
            key = _KEY.match(line)
            if key is None:
                continue
            path = table + _names(key[1])
        if path == wanted[: len(path)] and (best is None or len(path) > best[0]):
            best = (len(path), number)
    return best[1] if best else None


def _names(dotted: str) -> list[str]:
    return [part.strip().strip("\"'") for part in dotted.split(".")]


def _syntax(text: str, error: tomllib.TOMLDecodeError) -> Finding:
    message = str(error)
    match = _AT_LINE.search(message)
    line = int(match[1]) if match else (text.count("\n") + 1 if _AT_END in message else None)
    message = _AT_LINE.sub("", message).replace(_AT_END, "at the end").strip()
    return Finding(code="toml-syntax", file=FILE, line=line, message=message, fix="correct the TOML syntax")


def _schema(text: str, loc: Sequence[str | int], message: str, value: object) -> Finding:
    message = message.removeprefix("Value error, ")
    name = ".".join(str(part) for part in loc) or "the file"
    shown = f", not {value!r}" if isinstance(value, str | int | float | bool) and "value" not in message else ""
    return Finding(
        code="toml-schema",
        file=FILE,
        line=line_of(text, loc),
        message=f"{name}: {message}{shown}",
        fix="see Harbor's task.toml schema 1.4",
    )


def _normalise(raw: RawTask) -> TaskConfig:
    verifier = raw.verifier
    separate = verifier.environment_mode == "separate" or verifier.environment is not None
    return TaskConfig(
        name=raw.task.name if raw.task else None,
        schema_version=raw.schema_version,
        agent_timeout_sec=raw.agent.timeout_sec or 600.0,
        agent_user=_user(raw.agent.user),
        agent_network=_phase_network(raw.agent),
        verifier_timeout_sec=verifier.timeout_sec,
        verifier_env=verifier.env,
        verifier_user=_user(verifier.user),
        verifier_network=_phase_network(verifier),
        verifier_mode=VerifierMode.SEPARATE if separate else VerifierMode.SHARED,
        verifier_environment=_environment(verifier.environment) if verifier.environment else None,
        collect=tuple(Collect(**c.model_dump()) for c in verifier.collect),
        solution_env=raw.solution.env,
        environment=_environment(raw.environment),
        artifacts=tuple(Artifact(source=a.source, exclude=a.exclude, service=a.service) for a in raw.artifacts),
        allowlist=any(_is_allowlist(keys) for keys in (raw.environment, raw.agent, verifier, verifier.environment)),
        steps=tuple(step.name for step in raw.steps),
        metadata=raw.metadata,
    )


def _user(user: str | int | None) -> str | None:
    return None if user is None else str(user)


def _phase_network(keys: NetworkKeys) -> bool | None:
    return None if keys.network_mode is None else keys.network_mode != "no-network"


def _is_allowlist(keys: NetworkKeys | None) -> bool:
    return keys is not None and keys.network_mode == "allowlist"


def _environment(raw: RawEnvironment) -> EnvironmentConfig:
    default = EnvironmentConfig()
    return EnvironmentConfig(
        build_timeout_sec=raw.build_timeout_sec,
        docker_image=raw.docker_image or None,
        cpus=raw.cpus or default.cpus,
        memory_mb=raw.memory_mb or raw.memory or default.memory_mb,
        storage_mb=raw.storage_mb or raw.storage or default.storage_mb,
        network=raw.network,
        allowed_hosts=raw.allowed_hosts or (),
        env=raw.env,
        workdir=raw.workdir,
        os=raw.os,
        gpus=raw.gpus or 0,
        tpu=raw.tpu is not None,
        healthcheck=raw.healthcheck.command if raw.healthcheck else None,
        mcp_servers=len(raw.mcp_servers),
    )
