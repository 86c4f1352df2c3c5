"""Removes what dead processes left, and what is kept for later beyond a size. What a living process uses stays."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from envs_forge.errors import ForgeError
from envs_forge.sandbox.leftover import Leftover
from envs_forge.sandbox.temporary import dead_directories, remove_dead_directories

if TYPE_CHECKING:
    import docker


@dataclass(slots=True)
class Cleaning:
    """What was removed, or would be, and what could not be looked at or removed."""

    found: list[Leftover] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def clean(*, images: int | None = None, layers: int | None = None, dry_run: bool = False) -> Cleaning:
    """Clean this machine: every part, whatever fails in another.

    Args:
        images: Bytes that built images may take; None leaves them alone.
        layers: Bytes that exported layers may take; default `layer_trim.default_limit()`.
        dry_run: Look only.
    """
    cleaning = Cleaning()
    cleaning.found += [Leftover("temporary-directory", str(path)) for path in dead_directories()]
    if not dry_run:
        remove_dead_directories()
    _oci(cleaning, layers, dry_run=dry_run)
    try:
        from envs_forge.sandbox.docker.connection import connect

        with closing(connect()) as client:
            _docker(cleaning, client, images, dry_run=dry_run)
    except ForgeError as error:
        cleaning.problems.append(f"the docker engine was not cleaned: {error.message}")
    return cleaning


def _oci(cleaning: Cleaning, limit: int | None, *, dry_run: bool) -> None:
    import platform

    if platform.system() != "Linux":
        return
    from envs_forge.sandbox.oci.layer_trim import default_limit, trim
    from envs_forge.sandbox.oci.reaping import left_by_the_dead, reap_dead
    from envs_forge.sandbox.oci.state import state_root

    root = state_root()
    try:
        cleaning.found += left_by_the_dead(root)
        if not dry_run:
            reap_dead(root)
        dropped = trim(root / "layers", default_limit() if limit is None else limit, dry_run=dry_run)
        cleaning.found += [Leftover("layers", one.image, one.bytes) for one in dropped]
    except (OSError, ForgeError) as error:
        cleaning.problems.append(f"{root} was not cleaned: {error}")


def _docker(cleaning: Cleaning, client: docker.APIClient, images: int | None, *, dry_run: bool) -> None:
    from envs_forge.sandbox.docker.leftovers import left_by_the_dead, remove_left
    from envs_forge.sandbox.images.build_limits import remove_idle

    if not dry_run:
        remove_idle()

    for left in left_by_the_dead(client):
        if not dry_run:
            remove_left(client, left)
        cleaning.found.append(left)
    if images is not None:
        cleaning.found += list(_old_images(client, images, dry_run=dry_run))


def _old_images(client: docker.APIClient, limit: int, *, dry_run: bool) -> Iterator[Leftover]:
    """Images built for bundles, those not used for longest first, until the others fit."""
    from envs_forge.sandbox.images.local import LocalImages
    from envs_forge.sandbox.images.store import image_uses

    local, uses = LocalImages(client), image_uses()
    stored = local.list_built()
    total = sum(image.own_size for image in stored)
    with uses.frozen() as sure:
        order = sorted(stored, key=lambda image: (max([image.created, *map(uses.last, image.tags)]), image.id))
        for image in order if sure else ():
            if total <= limit:
                return
            if any(map(uses.in_use, image.tags)) or not (dry_run or local.remove([image])):
                continue
            total -= image.own_size
            if not dry_run:
                for tag in image.tags:
                    uses.forget(tag)
            yield Leftover("image", ", ".join(image.tags) or image.id, image.own_size)
