"""Keeps the cache of exported layers below a size: images that nobody uses go, those not used for longest first."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from envs_forge.sandbox.oci.rootfs import LISTABLE, remove_tree
from envs_forge.sandbox.sizes import bytes_of
from envs_forge.sandbox.uses import Uses

LOCK = "images/lock"
"""Held shared while images are looked up or unpacked, and exclusively while some are dropped."""
VARIABLE = "ENVS_FORGE_LAYER_CACHE"
DEFAULT_LIMIT = "20G"


@dataclass(frozen=True, slots=True)
class Dropped:
    """An image that was dropped from the cache, and the bytes of the layers that only it had."""

    image: str
    bytes: int


def default_limit() -> int:
    """Bytes, from $ENVS_FORGE_LAYER_CACHE (such as `20G`).

    Raises:
        UserError: The variable holds no size.
    """
    return bytes_of(os.environ.get(VARIABLE) or DEFAULT_LIMIT)


def layer_uses(folder: Path) -> Uses:
    """Which images of a cache are in use, by the name of their record."""
    return Uses(folder / "images" / "uses")


def trim(folder: Path, limit: int, *, dry_run: bool = False) -> list[Dropped]:
    """Drop images until the layers of the others fit in `limit` bytes, or all others are in use.

    Nothing is dropped while another process is unpacking: a later call will do it.
    """
    if not (folder / "images").is_dir():
        return []
    uses = layer_uses(folder)
    try:
        with locked(folder / LOCK, fcntl.LOCK_EX | fcntl.LOCK_NB), uses.frozen() as sure:
            return _trim(folder, limit, uses, dry_run=dry_run) if sure else []
    except OSError as error:
        if error.errno not in (errno.EAGAIN, errno.EACCES):
            raise
        return []


def _trim(folder: Path, limit: int, uses: Uses, *, dry_run: bool) -> list[Dropped]:
    images = {record: _layers(record) for record in sorted((folder / "images").glob("*.json"))}
    sizes = {name: _size(folder, name) for name in {name for layers in images.values() for name in layers}}
    order = sorted(images, key=lambda record: (uses.last(record.name) or record.stat().st_mtime, record.name))
    dropped: list[Dropped] = []
    for record in order:
        if sum(sizes.values()) <= limit:
            break
        if uses.in_use(record.name):
            continue
        layers = images.pop(record)
        alone = layers - {name for others in images.values() for name in others}
        dropped.append(Dropped(record.stem, sum(sizes.pop(name) for name in alone)))
        if not dry_run:
            _drop(folder, record, alone)
            uses.forget(record.name)
    return dropped


def _drop(folder: Path, record: Path, layers: set[str]) -> None:
    record.unlink(missing_ok=True)
    for name in layers:
        if (folder / name).is_dir():
            remove_layer(folder / name)
        _size_file(folder, name).unlink(missing_ok=True)


def _layers(record: Path) -> set[str]:
    try:
        return {str(name) for name in json.loads(record.read_text())}
    except (OSError, ValueError):
        return set()


def _size(folder: Path, name: str) -> int:
    """Bytes on disk of a layer, counted once."""
    kept = _size_file(folder, name)
    with contextlib.suppress(OSError, ValueError):
        return int(kept.read_text())
    size = tree_bytes(folder / name)
    with contextlib.suppress(OSError):
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(str(size))
    return size


def _size_file(folder: Path, name: str) -> Path:
    return folder / "images" / "sizes" / name


def tree_bytes(root: Path) -> int:
    """Bytes on disk of everything below a directory; links are not followed, and what vanishes counts nothing."""
    total = 0
    todo = [str(root)]
    while todo:
        with contextlib.suppress(OSError), os.scandir(todo.pop()) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    info = entry.stat(follow_symlinks=False)
                    total += info.st_blocks * 512
                    if stat.S_ISDIR(info.st_mode):
                        todo.append(entry.path)
    return total


def remove_layer(path: Path) -> None:
    """Remove a layer's directory, whatever is in it."""
    directory = os.open(path.parent, LISTABLE)
    try:
        remove_tree(directory, path.name)
    finally:
        os.close(directory)


@contextlib.contextmanager
def locked(path: Path, how: int = fcntl.LOCK_EX) -> Iterator[None]:
    """Hold a lock file.

    Raises:
        BlockingIOError: Somebody else holds it and `how` says not to wait.
    """
    with path.open("ab") as file:
        fcntl.flock(file, how)
        yield
