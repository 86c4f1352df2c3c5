"""A committed container: the base of other sandboxes until it is released."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

import docker
from docker.errors import ImageNotFound

from envs_forge.sandbox.changes import ENGINES_OWN, layer_changes, volume_changes
from envs_forge.sandbox.docker.connection import translated
from envs_forge.sandbox.docker.container import KIND_LABEL, labels
from envs_forge.sandbox.docker.holdings import Holdings
from envs_forge.sandbox.engine import FileChange, Image
from envs_forge.sandbox.interrupts import deferred_interrupts

DELETED = 2
"""The engine's number for a deleted path."""


class DockerSnapshot:
    """A frozen filesystem. Implements `Snapshot`.

    Args:
        client: Connection to the engine.
        image: The image that the sandbox was started from.
        layer_id: Id of the committed image.
        volumes: Content of the image's volumes, by mount point.
        changes: What the sandbox changed.
        holdings: Where it is noted until it is released.
    """

    def __init__(
        self,
        client: docker.APIClient,
        image: Image,
        layer_id: str,
        volumes: Mapping[str, IO[bytes]],
        changes: Sequence[FileChange],
        holdings: Holdings,
    ) -> None:
        self._client = client
        self._image = image
        self.layer_id = layer_id
        self.volumes = volumes
        self._changes = changes
        self._holdings = holdings
        self._released = False
        holdings.add(layer_id, self.release)

    @property
    def image(self) -> Image:
        """See `Snapshot.image`."""
        return self._image

    def changes(self) -> Sequence[FileChange]:
        """See `Snapshot.changes`."""
        return self._changes

    def release(self) -> None:
        """See `Snapshot.release`."""
        if self._released:
            return
        with deferred_interrupts(), translated("remove a snapshot"):
            remove_image(self._client, self.layer_id)
            self._released = True
            self._holdings.drop(self.layer_id)
        for archive in self.volumes.values():
            archive.close()


def commit(client: docker.APIClient, container: str) -> str:
    """Freeze a stopped container as an image and return the image's id."""
    changes = [f"LABEL {key}={value}" for key, value in labels("snapshot").items()]
    return str(client.commit(container, changes=changes)["Id"])


def changes_of(client: docker.APIClient, container: str) -> list[FileChange]:
    """What a stopped container changed: read where its layer lies on this machine, else as the engine says it."""
    facts = client.inspect_container(container)
    upper = ((facts.get("GraphDriver") or {}).get("Data") or {}).get("UpperDir")
    volumes = [mount for mount in facts["Mounts"] if mount["Type"] == "volume"]
    if upper and os.access(upper, os.R_OK | os.X_OK):
        found = layer_changes(Path(upper))
        for mount in volumes:
            found += volume_changes(Path(mount["Source"]), mount["Destination"])
        return found
    listed = [FileChange(change["Path"], deleted=change["Kind"] == DELETED) for change in client.diff(container) or ()]
    held = [FileChange(mount["Destination"], deleted) for mount in volumes for deleted in (True, False)]
    return [change for change in listed if change.path not in ENGINES_OWN] + held


def remove_image(client: docker.APIClient, image: str) -> None:
    """Remove an image; one that is gone is fine."""
    try:
        client.remove_image(image, force=True)
    except ImageNotFound:
        return


def snapshot_filter() -> dict[str, str]:
    """Filter for the images that `commit` makes."""
    return {"label": f"{KIND_LABEL}=snapshot"}
