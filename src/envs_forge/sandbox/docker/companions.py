"""Containers beside a sandbox: a network of their own, and `docker compose` to start them and to wait for them."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Mapping
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Any

import docker
from docker.errors import APIError, NotFound

from envs_forge.errors import EngineError
from envs_forge.sandbox.docker.connection import cli, translated
from envs_forge.sandbox.docker.container import labels
from envs_forge.sandbox.engine import CannotStartError, MiB, SandboxSpec
from envs_forge.sandbox.temporary import temporary_directory

COMPANY_LABEL = "envs-forge.company"
START_S = 180
LEAST_MEMORY_MB = 1024
NETWORK = "company"
WITHOUT_HOST = "com.docker.network.bridge.inhibit_ipv4"
"""Gives the host no address in the network: an internal one keeps nobody from the host's own services."""
OWN_FAULT = re.compile(
    r"is unhealthy|exited \(\d+\)|failed to start|no such file|executable file not found|permission denied",
    re.IGNORECASE,
)
PASSED_ON = ("PATH", "HOME", "DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY")


@cache
def compose_is_here() -> bool:
    """Whether the `docker` command has its compose plugin. Asked once."""
    try:
        done = subprocess.run([*cli(), "compose", "version"], capture_output=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def start_companions(client: docker.APIClient, name: str, spec: SandboxSpec) -> None:
    """Make the network `name` and start a sandbox's companions in it; returns when they run and are healthy.

    Raises:
        CannotStartError: One of them does not (`companion-failed`).
        EngineError: The engine failed, or has no compose plugin (`no-companions`).
    """
    if not compose_is_here():
        raise EngineError("docker has no compose plugin", code="no-companions", fix="apt-get install docker-compose")
    with translated("make a network"):
        client.create_network(
            name,
            driver="bridge",
            internal=not spec.network,
            labels=labels("network"),
            options={} if spec.network else {WITHOUT_HOST: "true"},
        )
    with temporary_directory("compose") as folder:
        file = folder / "compose.json"
        file.write_text(json.dumps(_document(name, spec)))
        code, said = _run(name, file)
    if code != 0:
        last = next((line.strip() for line in reversed(said.splitlines()) if line.strip()), "no reason given")[:300]
        if OWN_FAULT.search(said):
            raise CannotStartError(f"a container beside the agent's does not run: {last}", code="companion-failed")
        raise EngineError(f"the containers beside a sandbox could not be started: {last}")


def companions_of(client: docker.APIClient, name: str) -> list[str]:
    """Ids of the containers beside a sandbox."""
    return [str(found["Id"]) for found in client.containers(all=True, filters={"label": f"{COMPANY_LABEL}={name}"})]


def kill_container(client: docker.APIClient, container: str) -> None:
    """Kill everything in a container; one that does not run is fine."""
    with translated("stop a container"):
        try:
            client.kill(container)
        except NotFound:
            return
        except APIError as error:
            if error.status_code != HTTPStatus.CONFLICT:
                raise


def _run(name: str, file: Path) -> tuple[int, str]:
    environment = {key: os.environ[key] for key in PASSED_ON if key in os.environ}
    argv = [*cli(), "compose", "--project-name", name, "--file", str(file), "--progress", "plain"]
    argv += ["up", "--detach", "--no-build", "--wait", "--wait-timeout", str(START_S)]
    try:
        done = subprocess.run(
            argv,
            capture_output=True,
            text=True,
            errors="replace",
            env=environment,
            stdin=subprocess.DEVNULL,
            timeout=START_S + 30,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise EngineError(f"docker compose did not end in {START_S} s", code="timeout") from error
    return done.returncode, done.stdout + done.stderr


def _document(name: str, spec: SandboxSpec) -> dict[str, Any]:
    services = {service: _service(name, settings, spec) for service, settings in spec.companions.items()}
    return {"services": services, "networks": {NETWORK: {"external": True, "name": name}}}


def _service(name: str, settings: Mapping[str, Any], spec: SandboxSpec) -> dict[str, Any]:
    limits = spec.limits
    memory = max(limits.memory_mb, LEAST_MEMORY_MB) * MiB
    size = limits.disk_mb * MiB
    return {
        **settings,
        "networks": [NETWORK],
        "labels": {**labels("sandbox"), COMPANY_LABEL: name},
        "mem_limit": memory,
        "memswap_limit": memory,
        "pids_limit": limits.pids,
        "cpus": limits.cpus,
        "security_opt": ["no-new-privileges"],
        "ulimits": {"fsize": {"soft": size, "hard": size}, "core": 0},
        "logging": {"driver": "json-file", "options": {"max-size": "1m", "max-file": "1"}},
        "pull_policy": "never",
        "restart": "no",
    }
