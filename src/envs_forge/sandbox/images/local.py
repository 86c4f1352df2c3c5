"""Images as the engine has them: inspect, list, remove."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import docker
from docker.errors import APIError, ImageNotFound, NotFound

from envs_forge.sandbox.docker.connection import translated
from envs_forge.sandbox.docker.container import KIND_LABEL
from envs_forge.sandbox.engine import Image


@dataclass(frozen=True, slots=True)
class StoredImage:
    """An image that a build of ours left.

    `created` is seconds since the epoch, `size` bytes with its bases, `own_size` without what other images have too.
    """

    id: str
    tags: tuple[str, ...]
    created: int
    size: int
    own_size: int = 0


class LocalImages:
    """The images of the engine.

    Args:
        client: Connection to the engine.
    """

    def __init__(self, client: docker.APIClient) -> None:
        self._client = client

    def find(self, name: str) -> Image | None:
        """The local image called `name`, or None. One request."""
        with translated("look for an image"):
            try:
                found = self._client.inspect_image(name)
            except (ImageNotFound, NotFound):
                return None
            except APIError as error:
                if "invalid reference" in str(error.explanation):
                    return None
                raise
        return to_image(found, name)

    def list_built(self) -> list[StoredImage]:
        """All images that were built for bundles, oldest first."""
        with translated("list images"):
            found = self._client.df()["Images"] or ()
        images = [_stored(image) for image in found if (image.get("Labels") or {}).get(KIND_LABEL) == "image"]
        return sorted(images, key=lambda image: (image.created, image.id))

    def remove(self, images: Iterable[StoredImage]) -> int:
        """Remove images and return how many went; one in use stays."""
        removed = 0
        for image in images:
            with translated("remove an image"):
                try:
                    for name in image.tags or (image.id,):
                        self._client.remove_image(name)
                    removed += 1
                except (ImageNotFound, NotFound):
                    continue
                except APIError as error:
                    if "in use" not in str(error.explanation) and "being used" not in str(error.explanation):
                        raise
        return removed


def _stored(found: Mapping[str, Any]) -> StoredImage:
    size, shared = int(found["Size"]), max(int(found.get("SharedSize") or 0), 0)
    return StoredImage(str(found["Id"]), tuple(found["RepoTags"] or ()), int(found["Created"]), size, size - shared)


def to_image(found: Mapping[str, Any], tag: str) -> Image:
    """What an inspection says, as an `Image`. Without a WORKDIR, commands run in `/`, as everywhere in Docker."""
    config = found.get("Config") or {}
    env = dict(item.partition("=")[::2] for item in config.get("Env") or ())
    return Image(
        id=str(found["Id"]),
        tag=tag,
        env=env,
        workdir=config.get("WorkingDir") or "/",
        user=config.get("User") or "",
    )
