"""The other containers of a task's compose file, reduced to what may safely be started for anybody's task.

A companion gets an image, a command, variables, a health check and room of its own. What would reach the host (its
files, devices, networks, namespaces, privileges) is refused, and so is every key that is not known to be harmless.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict

from envs_forge.bundle.model import MAIN_SERVICE

KEPT = frozenset(
    {
        "command",
        "entrypoint",
        "environment",
        "healthcheck",
        "init",
        "read_only",
        "stop_signal",
        "tmpfs",
        "user",
        "working_dir",
    }
)
"""Passed on as they are."""
HANDLED = frozenset({"image", "build", "depends_on", "volumes"})
"""Passed on in another form."""
DROPPED = frozenset(
    {
        "container_name",
        "cpus",
        "deploy",
        "expose",
        "hostname",
        "labels",
        "logging",
        "mem_limit",
        "networks",
        "platform",
        "ports",
        "profiles",
        "pull_policy",
        "restart",
        "stdin_open",
        "stop_grace_period",
        "tty",
    }
)
"""Of no consequence here: all containers of a task share one network of their own and the task's limits."""
LOGS = "_LOGS_PATH"
"""Part of the variables by which a harness mounts places for logs."""
_VARIABLE = re.compile(r"(?<!\$)\$(?:\{[A-Za-z_]\w*\}|[A-Za-z_]\w*)")


class RefusedError(ValueError):
    """A companion asks for what it does not get; the message says what."""


class Companion(BaseModel):
    """One container beside the agent's.

    Attributes:
        name: Under which the others reach it.
        image: Name of its image; None where it is built.
        context: Directory under `environment/` that it is built from; None where it is not built.
        dockerfile: Path in that directory.
        settings: Its other keys, in compose's words.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    image: str | None = None
    context: str | None = None
    dockerfile: str = "Dockerfile"
    settings: Mapping[str, Any] = {}


def companions_of(services: Mapping[str, Any]) -> list[Companion]:
    """The containers beside the one that the agent works in; those of a profile are not started, as in compose.

    Raises:
        RefusedError: One of them asks for something that it does not get.
    """
    others = {n: s for n, s in services.items() if n != MAIN_SERVICE and not s.get("profiles")}
    shared = [name for name, count in Counter(_names_of_volumes(services.values())).items() if count > 1]
    if shared:
        raise RefusedError(f"several containers share the volume {shared[0]}")
    return [_companion(name, service, set(others)) for name, service in others.items()]


def _companion(name: str, service: Mapping[str, Any], others: set[str]) -> Companion:
    odd = sorted(set(map(str, service)) - KEPT - HANDLED - DROPPED)
    if odd:
        raise RefusedError(f"{name} asks for {', '.join(odd)}")
    settings = {key: service[key] for key in service if key in KEPT}
    if _VARIABLE.search(str(settings)):
        raise RefusedError(f"{name} asks for variables of the host")
    volumes = [_volume(name, volume) for volume in service.get("volumes") or () if LOGS not in str(volume)]
    waits = _depends_on(service.get("depends_on"), others)
    settings |= {key: value for key, value in (("volumes", volumes), ("depends_on", waits)) if value}
    context, dockerfile = _build(name, service.get("build"))
    image = service.get("image")
    if context is None and (not isinstance(image, str) or "$" in image):
        raise RefusedError(f"{name} has no image")
    return Companion(
        name=name,
        image=str(image) if context is None else None,
        context=context,
        dockerfile=dockerfile,
        settings=settings,
    )


def _build(name: str, build: object) -> tuple[str | None, str]:
    """Context and Dockerfile, relative to `environment/` and to the context."""
    if build is None:
        return None, "Dockerfile"
    if isinstance(build, str):
        build = {"context": build}
    if not isinstance(build, Mapping) or set(build) - {"context", "dockerfile"}:
        raise RefusedError(f"{name} is built with more than a context and a Dockerfile")
    wanted = [str(build.get(key, default)) for key, default in _BUILD_DEFAULTS.items()]
    context, dockerfile = map(posixpath.normpath, wanted)
    if any(path.startswith(("/", "..")) for path in (context, dockerfile)) or any(map(_FOREIGN.search, wanted)):
        raise RefusedError(f"{name} is built from outside of the task")
    return context, dockerfile


_FOREIGN = re.compile(r"\$|:|@|\.git")
_BUILD_DEFAULTS = {"context": ".", "dockerfile": "Dockerfile"}


def _names_of_volumes(services: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for service in services:
        for volume in service.get("volumes") or ():
            if isinstance(volume, Mapping):
                yield from [str(volume["source"])] if volume.get("source") else []
            elif ":" in str(volume):
                yield str(volume).partition(":")[0]


def _volume(name: str, volume: object) -> str:
    """The mount point of a volume, which becomes one of the container's own."""
    if isinstance(volume, Mapping):
        source, target = str(volume.get("source") or ""), str(volume.get("target") or "")
        kind = volume.get("type")
    else:
        parts = str(volume).split(":")
        source, target = (parts[0], parts[1]) if len(parts) > 1 else ("", parts[0])
        kind = "bind" if source.startswith((".", "/", "~", "$")) else "volume"
    if kind != "volume" or not target.startswith("/") or "$" in target:
        raise RefusedError(f"{name} mounts {source or target or 'something'} of the host")
    return target


def _depends_on(wanted: object, others: set[str]) -> dict[str, Any]:
    """What it waits for, without the agent's container, which starts last."""
    if isinstance(wanted, Mapping):
        return {str(name): condition for name, condition in wanted.items() if name in others}
    names = wanted if isinstance(wanted, list) else []
    return {str(name): {"condition": "service_started"} for name in names if name in others}
