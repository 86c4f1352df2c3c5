"""Carries what lies on an image's declared volumes over to a snapshot: a commit leaves volumes out."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Mapping
from typing import IO

import docker

SPOOL_BYTES = 8 * 1024 * 1024
READING = threading.Lock()
"""Two sandboxes may be made from one snapshot at the same time."""


def save_volumes(client: docker.APIClient, container: str) -> dict[str, IO[bytes]]:
    """Read every volume of `container`: mount point → tar of its content, named relative to it."""
    saved: dict[str, IO[bytes]] = {}
    for mount in client.inspect_container(container)["Mounts"]:
        if mount["Type"] == "volume":
            saved[mount["Destination"]] = _read(client, container, mount["Destination"])
    return saved


def load_volumes(client: docker.APIClient, container: str, saved: Mapping[str, IO[bytes]]) -> None:
    """Unpack what `save_volumes` read into the volumes of a container that has not started."""
    for destination, archive in saved.items():
        with READING:
            archive.seek(0)
            client.put_archive(container, destination, archive)


def _read(client: docker.APIClient, container: str, path: str) -> IO[bytes]:
    spool = tempfile.SpooledTemporaryFile(max_size=SPOOL_BYTES)  # noqa: SIM115 - lives as long as the snapshot
    chunks, _ = client.get_archive(container, path.rstrip("/") + "/.")
    for chunk in chunks:
        spool.write(chunk)
    return spool
