"""`docker-compose.yaml` of a Terminal-Bench task → what Harbor's `[environment]` can say, and what it cannot."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from envs_forge.bundle.compose import PLAIN_KEYS

MAIN = "client"
HARNESS = "${T_BENCH_"
"""Variables that Terminal-Bench itself fills in: names of images and containers, places of logs."""
_SAID_ELSEWHERE = PLAIN_KEYS | {"volumes", "cpus", "mem_limit", "platform", "hostname", "labels", "ports", "expose"}


@dataclass(frozen=True, slots=True)
class Service:
    """The container that the agent works in."""

    context: str = "."
    dockerfile: str = "Dockerfile"
    image: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    workdir: str | None = None
    network: bool = True
    cpus: float | None = None
    memory_mb: int | None = None
    document: Mapping[str, Any] | None = None
    """A compose file for Harbor, where one plain container does not do."""

    def environment_table(self) -> dict[str, Any]:
        """`[environment]` of the `task.toml`. Terminal-Bench gives a network unless the file takes it away."""
        table: dict[str, Any] = {"network_mode": "public" if self.network else "no-network"}
        optional = {
            "docker_image": self.image,
            "workdir": self.workdir,
            "cpus": self.cpus,
            "memory_mb": self.memory_mb,
            "env": dict(self.env) or None,
        }
        return table | {key: value for key, value in optional.items() if value is not None}


def service_of(services: Mapping[str, Any]) -> Service:
    """The main service of a compose file: the one called `client`, else the first."""
    name = MAIN if MAIN in services else next(iter(services))
    main: Mapping[str, Any] = services[name]
    build = main.get("build")
    build = {"context": build} if isinstance(build, str) else build if isinstance(build, dict) else {}
    limits = _limits(main)
    image = main.get("image")
    pulled = isinstance(image, str) and not build and "$" not in image
    return Service(
        context=_relative(build.get("context", ".")),
        dockerfile=_relative(build.get("dockerfile", "Dockerfile")),
        image=str(image) if pulled else None,
        env=_env(main.get("environment")),
        workdir=main["working_dir"]
        if isinstance(main.get("working_dir"), str) and "$" not in main["working_dir"]
        else None,
        network=main.get("network_mode") != "none",
        cpus=_number(limits.get("cpus")),
        memory_mb=_megabytes(limits.get("memory")),
        document=_document(name, services, build),
    )


def _document(name: str, services: Mapping[str, Any], build: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What is left over when one plain container does not do, with the main service called `main` as in Harbor."""
    main: Mapping[str, Any] = services[name]
    odd = {key: main[key] for key in main if key not in _SAID_ELSEWHERE}
    mounts = [v for v in main.get("volumes") or () if not (isinstance(v, str) and HARNESS in v)]
    arguments = {key: build[key] for key in build if key not in ("context", "dockerfile")}
    if len(services) == 1 and not odd and not mounts and not arguments:
        return None
    kept: dict[str, Any] = {**odd}
    if mounts:
        kept["volumes"] = mounts
    if arguments:
        kept["build"] = {"context": ".", **arguments}
    others = {other: service for other, service in services.items() if other != name}
    return {"services": {"main": kept, **others}}


def _relative(path: object) -> str:
    text = str(path).removeprefix("./").rstrip("/")
    return text or "."


def _env(value: object) -> dict[str, str]:
    if isinstance(value, Mapping):
        pairs = [(str(key), "" if item is None else str(item)) for key, item in value.items()]
    else:
        items = [str(item).partition("=") for item in value] if isinstance(value, list) else []
        pairs = [(name, text if sign else "${" + name + "}") for name, sign, text in items]
    return {key: text for key, text in pairs if HARNESS not in text and key != "TEST_DIR"}


def _limits(main: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Any = main.get("deploy")
    for key in ("resources", "limits"):
        found = found.get(key) if isinstance(found, Mapping) else None
    limits = dict(found) if isinstance(found, Mapping) else {}
    limits.setdefault("cpus", main.get("cpus"))
    limits.setdefault("memory", main.get("mem_limit"))
    return limits


def _number(value: object) -> float | None:
    try:
        number = float(str(value))
    except ValueError:
        return None
    return number if 0 < number < 1e6 else None


def _megabytes(value: object) -> int | None:
    match = re.fullmatch(r"([0-9.]+)\s*([kmg])?i?b?", str(value).lower())
    number = _number(match[1]) if match else None
    if match is None or number is None:
        return None
    per_unit = {"g": 1024.0, "m": 1.0, "k": 1 / 1024, None: 1 / 1024**2}
    return max(1, int(number * per_unit[match[2]]))
