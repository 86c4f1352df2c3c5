"""A bundle as Harbor's environments take it."""

from __future__ import annotations

from pathlib import Path

from envs_forge.bundle import write_bundle
from envs_forge.bundle.compose import COMPOSE
from envs_forge.bundle.model import Bundle
from envs_forge.sandbox.runtime import Prepared

DOCKER = "docker"
OVERLAY = "services:\n  main:\n    network_mode: none\n"
"""Takes the network away. Harbor's docker environment refuses `no-network` without a helper image of its own."""


def write_task(prepared: Prepared, parent: Path, environment: str, *, network: bool = False) -> tuple[Path, list[str]]:
    """Write the task directory.

    Harbor's docker environment works on this machine's engine, so it is given the image that was built here, and no
    base image has to be pulled a second time. Other environments get the task as it is and build for themselves, and
    so does a task of several containers.

    Args:
        prepared: The bundle, built.
        parent: Where to write.
        environment: Harbor's name of the environment.
        network: Whether a task that asks for no network gets one all the same, in the docker environment.

    Returns:
        The task directory, and arguments of `harbor trial start` that go with it.
    """
    task = write_bundle(prepared.bundle, parent)
    if environment != DOCKER or COMPOSE in prepared.bundle.files:
        return task, []
    _set_environment(task / "task.toml", prepared.image.id, prepared.bundle)
    if network or prepared.bundle.config.environment.network:
        return task, []
    overlay = parent / "no-network.yaml"
    overlay.write_text(OVERLAY, encoding="utf-8")
    return task, ["--extra-docker-compose", str(overlay)]


def _set_environment(file: Path, image: str, bundle: Bundle) -> None:
    import tomlkit

    document = tomlkit.parse(file.read_text(encoding="utf-8-sig"))
    table = document.setdefault("environment", tomlkit.table())
    table["docker_image"] = image
    if not bundle.config.environment.network:
        for name in ("network_mode", "allow_internet"):
            table.pop(name, None)
    file.write_text(tomlkit.dumps(document), encoding="utf-8", newline="\n")
