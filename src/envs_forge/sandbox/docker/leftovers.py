"""What dead processes left in a Docker engine: containers, then their networks and snapshots."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import docker
from docker.errors import APIError, NotFound

from envs_forge.sandbox import owner
from envs_forge.sandbox.docker.connection import translated
from envs_forge.sandbox.docker.container import KIND_LABEL, OWNER_LABEL
from envs_forge.sandbox.docker.sandbox import remove_container
from envs_forge.sandbox.docker.snapshot import remove_image, snapshot_filter
from envs_forge.sandbox.leftover import Leftover


def left_by_the_dead(client: docker.APIClient) -> list[Leftover]:
    """Everything whose owner is certainly dead, in the order in which it can be removed."""
    with translated("list what dead processes left"):
        containers = client.containers(all=True, filters={"label": f"{KIND_LABEL}=sandbox"})
        networks = client.networks(filters={"label": f"{KIND_LABEL}=network"})
        images = client.images(all=True, filters=snapshot_filter())
    return [
        *(Leftover("container", str(found["Id"])) for found in containers if _owner_is_dead(found)),
        *(Leftover("network", str(found["Id"])) for found in networks if _owner_is_dead(found)),
        *(Leftover("snapshot", str(found["Id"])) for found in images if _owner_is_dead(found)),
    ]


def remove_left(client: docker.APIClient, left: Leftover) -> None:
    """Remove one of them; one that is gone already is fine.

    Raises:
        EngineError: The engine does not remove it.
    """
    with translated(f"remove a {left.kind}"):
        if left.kind == "container":
            remove_container(client, left.name)
        elif left.kind == "network":
            remove_network(client, left.name)
        else:
            remove_image(client, left.name)


def remove_network(client: docker.APIClient, name: str) -> None:
    """Remove a network; one that is gone is fine."""
    try:
        client.remove_network(name)
    except NotFound:
        return
    except APIError as error:
        if "not found" not in str(error.explanation):
            raise


def _owner_is_dead(found: Mapping[str, Any]) -> bool:
    marks = found.get("Labels") or {}
    who = owner.parse(str(marks.get(OWNER_LABEL, ""))) if isinstance(marks, dict) else None
    return who is not None and who.is_dead()
