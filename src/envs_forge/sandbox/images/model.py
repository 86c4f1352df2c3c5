"""What a build gives back: an image that is ready, or the bundle's fault, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from envs_forge.sandbox.engine import Image


class BuildCode(StrEnum):
    """Why a bundle's image could not be made. Stable reason codes."""

    NO_IMAGE = "no-image"
    """Neither `environment/Dockerfile` nor `docker_image`."""
    BAD_DOCKERFILE = "bad-dockerfile"
    """The Dockerfile cannot be parsed."""
    FAILED = "build-failed"
    TIMEOUT = "build-timeout"
    NEEDS_NETWORK = "needs-network"
    """A step failed for want of a network or a registry that this machine does not have."""
    BASE_UNAVAILABLE = "base-image-unavailable"
    """A FROM image is neither here nor in reach, and the base-image map has no stand-in."""
    UNSUPPORTED = "unsupported-task"
    """The task asks for something that no engine here gives; the message says what."""
    COMPOSE_MISSING = "compose-missing"
    """The task has several containers, and the engine has no compose plugin."""
    COMPOSE_REFUSED = "compose-refused"
    """A container beside the agent's asks for something that none gets."""


UNSUPPORTED_CODES = frozenset(
    {
        BuildCode.NEEDS_NETWORK,
        BuildCode.BASE_UNAVAILABLE,
        BuildCode.UNSUPPORTED,
        BuildCode.COMPOSE_MISSING,
        BuildCode.COMPOSE_REFUSED,
    }
)


class BuildFault(BaseModel):
    """A build that failed for the bundle's reasons. The machine's faults are `InfrastructureError`s instead."""

    model_config = ConfigDict(frozen=True)

    code: BuildCode
    message: str
    log_tail: str = ""
    """The last part of the build log, decoded with replacement, for people to read."""
    substitutions: Mapping[str, str] = {}
    duration_s: float = 0.0

    @property
    def unsupported(self) -> bool:
        """Whether this site cannot judge the bundle, which is not a rejection."""
        return self.code in UNSUPPORTED_CODES


@dataclass(frozen=True, slots=True)
class BuiltImage:
    """An image that is ready to run.

    Attributes:
        image: The image.
        substitutions: Base images that the Dockerfile names → local images that stood in for them.
        built: False when it was there already.
        duration_s: Seconds that it took to get it, waiting for another thread's build included.
    """

    image: Image
    substitutions: Mapping[str, str] = field(default_factory=dict)
    built: bool = False
    duration_s: float = 0.0
