"""A bundle that is ready to run: its images, and how its sandboxes are made under this site's caps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from envs_forge.bundle.env import resolve_env
from envs_forge.bundle.model import Bundle, EnvironmentConfig
from envs_forge.sandbox.companions import Company
from envs_forge.sandbox.engine import Image, Limits, SandboxSpec
from envs_forge.sandbox.images.model import BuiltImage
from envs_forge.sandbox.separate import Apart, verifier_environment

ROOT = "0:0"
SMALLEST_MEMORY_MB = 16


@dataclass(frozen=True, slots=True)
class Caps:
    """The most that a bundle gets, whatever it asks for. None is no cap."""

    cpus: float | None = None
    memory_mb: int | None = None
    disk_mb: int | None = None
    pids: int = 512
    network: bool = True
    """False is `--no-network`: no sandbox gets a network, whatever the bundle asks for."""


NO_CAPS = Caps()


@dataclass(frozen=True, slots=True)
class Prepared:
    """A bundle whose image is ready.

    Attributes:
        bundle: The bundle.
        image: Its image, with the task's own user and working directory laid over it; `image.id` goes into
            verdicts, `image.workdir` into the `TaskView`.
        spec: How its work sandboxes are made: the bundle's limits under the caps.
        engine: Name of the engine that its sandboxes run on.
        substitutions: Base images that the Dockerfile names → local images that stood in for them.
        network_withheld: The bundle asks for a network and does not get one (`Caps.network`).
        verifier_user: Who runs the tests; None is the image's user.
        verifier_network: Whether the tests' sandbox has a network.
        company: The containers beside the agent's; see `SandboxSpec.companions`.
        apart: Where the tests run when they have an environment of their own, and get artifacts only.
    """

    bundle: Bundle
    image: Image
    spec: SandboxSpec
    engine: str
    substitutions: Mapping[str, str] = field(default_factory=dict)
    network_withheld: bool = False
    verifier_user: str | None = None
    verifier_network: bool = False
    apart: Apart | None = None
    company: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def needs_docker(self) -> bool:
        """Whether only the docker engine can run it."""
        return self.network or bool(self.company)

    @property
    def network(self) -> bool:
        """Whether any of its sandboxes has a network."""
        return self.spec.network or self.verifier_network


def assemble(
    bundle: Bundle, built: BuiltImage, own: BuiltImage | None, company: Company, caps: Caps, engine: str
) -> Prepared:
    """How a bundle's sandboxes are made.

    Args:
        bundle: The bundle.
        built: Its image.
        own: The image of its separate verifier, if it has one.
        company: The containers beside the agent's.
        caps: What it gets at most.
        engine: Name of the engine.
    """
    config, wanted = bundle.config, bundle.config.environment
    place = verifier_environment(bundle) if own is not None else wanted
    asked = (_first(config.agent_network, wanted.network), _first(config.verifier_network, place.network))
    agent, verifier = (given and caps.network for given in asked)
    return Prepared(
        bundle=bundle,
        image=_laid_over(built.image, wanted, config.agent_user),
        spec=_spec(wanted, agent, caps),
        engine=engine,
        substitutions={
            **built.substitutions,
            **(own.substitutions if own is not None else {}),
            **company.substitutions,
        },
        company=company.settings,
        network_withheld=any(asked) and not caps.network,
        verifier_user=config.verifier_user or (built.image.user or ROOT if config.agent_user else None),
        verifier_network=verifier,
        apart=None
        if own is None
        else Apart(_laid_over(own.image, place, None), _spec(place, verifier, caps), config.verifier_user),
    )


def _laid_over(image: Image, wanted: EnvironmentConfig, user: str | None) -> Image:
    return replace(image, workdir=wanted.workdir or image.workdir, user=user or image.user)


def _spec(wanted: EnvironmentConfig, network: bool, caps: Caps) -> SandboxSpec:
    limits = Limits(
        cpus=_least(wanted.cpus, caps.cpus),
        memory_mb=int(max(_least(wanted.memory_mb, caps.memory_mb), SMALLEST_MEMORY_MB)),
        pids=caps.pids,
        disk_mb=int(_least(wanted.storage_mb, caps.disk_mb)),
    )
    return SandboxSpec(limits=limits, network=network, env=resolve_env(wanted.env, {})[0])


def _first(value: bool | None, default: bool) -> bool:
    return default if value is None else value


def _least(wanted: float, cap: float | None) -> float:
    return wanted if cap is None else min(wanted, cap)
