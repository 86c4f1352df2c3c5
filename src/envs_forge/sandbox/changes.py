"""What a sandbox changed, read from its writable layer after all its processes are dead. Links are never followed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from envs_forge.sandbox.engine import FileChange

ENGINES_OWN = frozenset(
    {"/dev", "/proc", "/sys", "/.dockerenv", "/etc/hosts", "/etc/hostname", "/etc/resolv.conf", "/etc/mtab"}
)
"""What engines put into every sandbox."""
_OPAQUE = "trusted.overlay.opaque"


def layer_changes(layer: Path) -> list[FileChange]:
    """Everything in a writable overlay layer.

    Args:
        layer: Directory of the layer, no longer mounted for writing.

    Returns:
        Directories before what is in them. A directory that hides what lay below is deleted first, then there.
    """
    return list(_walk(layer, ""))


def volume_changes(source: Path, mounted_at: str) -> list[FileChange]:
    """The content of a volume, as something that replaces what the image has at its place."""
    return [FileChange(mounted_at, deleted=True), FileChange(mounted_at), *_walk(source, mounted_at)]


def _walk(directory: Path, at: str) -> Iterator[FileChange]:
    with os.scandir(directory) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        path = f"{at}/{entry.name}"
        if path in ENGINES_OWN:
            continue
        about = entry.stat(follow_symlinks=False)
        if stat.S_ISDIR(about.st_mode):
            yield from _directory(Path(entry.path), path)
        else:
            yield FileChange(path, deleted=stat.S_ISCHR(about.st_mode) and about.st_rdev == 0)


def _directory(directory: Path, path: str) -> Iterator[FileChange]:
    """A directory and what is in it; nothing where only the engine put something into it."""
    if _is_opaque(str(directory)):
        yield FileChange(path, deleted=True)
    elif _only_engines(directory, path):
        return
    yield FileChange(path)
    yield from _walk(directory, path)


def _only_engines(directory: Path, path: str) -> bool:
    names = [entry.name for entry in directory.iterdir()]
    return bool(names) and all(f"{path}/{name}" in ENGINES_OWN for name in names)


def _is_opaque(path: str) -> bool:
    try:
        return os.getxattr(path, _OPAQUE, follow_symlinks=False) == b"y"
    except OSError:
        return False
