"""The images of a task's other containers, and how these are started."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from envs_forge.bundle.companions import Companion, RefusedError, companions_of
from envs_forge.bundle.compose import COMPOSE, services_of
from envs_forge.bundle.links import find_file
from envs_forge.bundle.model import Bundle, EnvironmentConfig, TaskConfig
from envs_forge.sandbox.images.context import FOLDER
from envs_forge.sandbox.images.model import BuildCode, BuildFault, BuiltImage


@dataclass(frozen=True, slots=True)
class Company:
    """The containers beside the agent's, for `SandboxSpec.companions`, and the base images that were stood in for."""

    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    substitutions: Mapping[str, str] = field(default_factory=dict)


def prepare_company(bundle: Bundle, ensure: Callable[[Bundle], BuiltImage | BuildFault]) -> Company | BuildFault:
    """Get the images of all containers beside the agent's.

    Args:
        bundle: The task.
        ensure: Builds or finds a bundle's image.

    Raises:
        InfrastructureError: The machine failed, not the bundle.
    """
    compose = find_file(bundle.files, COMPOSE)
    services = services_of(compose.data) if compose is not None else None
    if not services:
        return Company()
    try:
        companions = companions_of(services)
    except RefusedError as error:
        return BuildFault(code=BuildCode.COMPOSE_REFUSED, message=str(error))
    if companions and not _can_start():
        message = "the task needs several containers, and docker has no compose plugin here"
        return BuildFault(code=BuildCode.COMPOSE_MISSING, message=message)
    settings: dict[str, Mapping[str, Any]] = {}
    substitutions: dict[str, str] = {}
    for companion in companions:
        outcome = ensure(_as_bundle(bundle, companion))
        if isinstance(outcome, BuildFault):
            return outcome.model_copy(update={"message": f"the container {companion.name}: {outcome.message}"})
        settings[companion.name] = {**companion.settings, "image": outcome.image.tag}
        substitutions |= outcome.substitutions
    return Company(settings, substitutions)


def _can_start() -> bool:
    from envs_forge.sandbox.docker.companions import compose_is_here

    return compose_is_here()


def _as_bundle(bundle: Bundle, companion: Companion) -> Bundle:
    """A bundle whose image is the companion's."""
    environment = EnvironmentConfig(
        build_timeout_sec=bundle.config.environment.build_timeout_sec, docker_image=companion.image
    )
    files = {}
    if companion.context is not None:
        prefix = FOLDER if companion.context == "." else f"{FOLDER}{companion.context}/"
        files = {FOLDER + path.removeprefix(prefix): f for path, f in bundle.files.items() if path.startswith(prefix)}
        dockerfile = find_file(bundle.files, prefix + companion.dockerfile)
        if dockerfile is not None:
            files[f"{FOLDER}Dockerfile"] = dockerfile
    return Bundle(id=bundle.id, files=files, config=TaskConfig(environment=environment))
