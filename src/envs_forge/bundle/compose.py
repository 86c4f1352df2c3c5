"""A task's own `docker-compose.yaml`: is it one plain container, what does it say of it, and can the others be had?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from envs_forge.bundle.companions import RefusedError, companions_of
from envs_forge.bundle.finding import Finding, Severity
from envs_forge.bundle.model import MAIN_SERVICE, EnvironmentConfig
from envs_forge.bundle.yamltext import load_yaml

COMPOSE = "environment/docker-compose.yaml"
_USUAL = {"context": (".", "${CONTEXT_DIR}"), "dockerfile": ("Dockerfile", "./Dockerfile")}
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

COMMON_KEYS = {"depends_on", "expose", "labels", "networks", "ports"}
"""Keys that mean nothing more where all containers share one network, and the agent's starts last."""


def services_of(data: bytes) -> Mapping[str, Any] | None:
    """Name → definition of each service; None when the file is not a compose file, whatever else it is."""
    try:
        document = load_yaml(data)
    except ValueError:
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
    if set(services) - {MAIN_SERVICE}:
        return _finding("multi-container", file, f"{len(services)} containers: {', '.join(sorted(services))}")
    odd = sorted({key for service in services.values() for key in _keys(service)} - PLAIN_KEYS)
    if odd:
        return _finding("compose-keys", file, f"compose keys that one plain container does not have: {', '.join(odd)}")
    return None


def support_finding(file: str, data: bytes) -> Finding | None:
    """Why this file's containers cannot be had here, None when they can."""
    services = services_of(data)
    if services is None or not set(services) - {MAIN_SERVICE}:
        return compose_finding(file, data)
    odd = sorted(_keys(services.get(MAIN_SERVICE, {})) - PLAIN_KEYS - COMMON_KEYS)
    if odd:
        return _finding("compose-keys", file, f"compose keys that the agent's container does not get: {', '.join(odd)}")
    try:
        companions_of(services)
    except RefusedError as error:
        return _finding("compose-refused", file, f"containers that are not given what they ask for: {error}")
    except (AttributeError, TypeError, ValueError) as error:
        return _finding("compose-unreadable", file, f"containers that cannot be read: {error}")
    return None


def laid_over(data: bytes, environment: EnvironmentConfig) -> EnvironmentConfig:
    """An environment with what the compose file says of the agent's container: network, image, place, variables."""
    main = (services_of(data) or {}).get(MAIN_SERVICE, {})
    image, place, mode = main.get("image"), main.get("working_dir"), main.get("network_mode")
    changes: dict[str, Any] = {"env": {**environment.env, **_variables(main.get("environment"))}}
    if mode is not None:
        changes["network"] = mode != "none"
    if isinstance(image, str) and "$" not in image and not main.get("build"):
        changes["docker_image"] = image
    if isinstance(place, str) and "$" not in place:
        changes["workdir"] = place
    return environment.model_copy(update=changes)


def _variables(value: object) -> dict[str, str]:
    """Those that have a value in the file itself."""
    if isinstance(value, list):
        value = dict(str(item).partition("=")[::2] for item in value if "=" in str(item))
    pairs = value.items() if isinstance(value, Mapping) else ()
    return {str(name): str(text) for name, text in pairs if text is not None and "$" not in str(text)}


def _keys(service: Mapping[str, Any]) -> set[str]:
    """The keys of a service, those of `build` that change the image included."""
    build = service.get("build")
    build = {"context": build} if isinstance(build, str) else build if isinstance(build, dict) else {}
    inner = {f"build.{key}" for key, value in build.items() if str(value).removesuffix("/") not in _USUAL.get(key, ())}
    mounts = service.get("volumes")
    foreign = isinstance(mounts, list) and any("_LOGS_PATH" not in str(mount) for mount in mounts)
    return {str(key) for key in service if key != "volumes"} | inner | ({"volumes"} if foreign else set())


def _finding(code: str, file: str, what: str) -> Finding:
    return Finding(code=code, severity=Severity.WARNING, file=file, message=f"needs {what}")
