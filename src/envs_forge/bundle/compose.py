"""A task's own `docker-compose.yaml`: is it one plain container, and does it have a network?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from envs_forge.bundle.finding import Finding, Severity

COMPOSE = "environment/docker-compose.yaml"
PLAIN_KEYS = {
    "build",
    "command",
    "container_name",
    "deploy",
    "environment",
    "image",
    "init",
    "network_mode",
    "pull_policy",
    "restart",
    "stdin_open",
    "tty",
    "working_dir",
}
"""Keys of the one service that do not change what the task is: the image, its limits."""


def services_of(data: bytes) -> Mapping[str, Any] | None:
    """Name → definition of each service; None when the file is not a compose file."""
    import yaml

    try:
        document = yaml.safe_load(data.decode("utf-8-sig"))
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    services = document.get("services") if isinstance(document, dict) else None
    if not isinstance(services, dict):
        return None
    return {str(name): service if isinstance(service, dict) else {} for name, service in services.items()}


def compose_finding(file: str, data: bytes) -> Finding | None:
    """Why one container cannot stand in for this file, None when it can."""
    services = services_of(data)
    if services is None:
        return _finding("compose-unreadable", file, "a compose file that cannot be read")
    if len(services) > 1:
        return _finding("multi-container", file, f"{len(services)} containers: {', '.join(sorted(services))}")
    odd = sorted({key for service in services.values() for key in _keys(service)} - PLAIN_KEYS)
    if odd:
        return _finding("compose-keys", file, f"compose keys that one plain container does not have: {', '.join(odd)}")
    return None


def _keys(service: Mapping[str, Any]) -> set[str]:
    """The keys of a service, those of `build` that change the image included."""
    build = service.get("build")
    inner = (
        {f"build.{key}" for key in build if key not in ("context", "dockerfile")} if isinstance(build, dict) else set()
    )
    mounts = service.get("volumes")
    foreign = isinstance(mounts, list) and any("_LOGS_PATH" not in str(mount) for mount in mounts)
    return {str(key) for key in service if key != "volumes"} | inner | ({"volumes"} if foreign else set())


def compose_network(data: bytes) -> bool | None:
    """Whether a single-service file gives a network; None when it does not say."""
    services = services_of(data) or {}
    if len(services) != 1:
        return None
    mode = next(iter(services.values())).get("network_mode")
    return None if mode is None else mode != "none"


def _finding(code: str, file: str, what: str) -> Finding:
    return Finding(code=code, severity=Severity.WARNING, file=file, message=f"needs {what}")
