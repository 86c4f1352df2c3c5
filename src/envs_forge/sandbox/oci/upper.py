"""Prepares a sandbox's writable layer before it is mounted: fresh directories, and the files that every host has.

All of it is written into the upper layer from outside, where nothing of the sandbox's is yet, so nothing that an
image or an agent left (links, read-only directories, a million files) can stand in the way, and nothing has to be
deleted: an opaque directory hides whatever the layers below have at its path.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from envs_forge.errors import InvariantError
from envs_forge.sandbox.oci.rootfs import LISTABLE

OPAQUE = "trusted.overlay.opaque"
MOUNT_POINTS = ("/proc", "/sys", "/dev")
"""Made sure of for runc, which refuses to mount over a link."""


class Upper:
    """The directory that is going to be the upper layer; still empty, not mounted.

    Args:
        upper: The directory.
        lowers: The layers that it is going to cover, uppermost first.
    """

    def __init__(self, upper: Path, lowers: Sequence[Path]) -> None:
        self._upper = upper
        self._lowers = lowers

    def fresh(self, path: str) -> None:
        """Make the directory `path` root's and empty; parents that are no directories become some."""
        *above, name = _parts(path)
        here = self._directory(above)
        place = here / name
        if not place.exists():
            place.mkdir(0o755)
        os.setxattr(place, OPAQUE, b"y")

    def directory(self, path: str) -> None:
        """See that `path` is a directory, whatever it holds."""
        self._directory(_parts(path))

    def file(self, path: str, content: str) -> None:
        """Replace the file at `path`, without following links."""
        *above, name = _parts(path)
        place = self._directory(above) / name
        place.unlink(missing_ok=True)
        place.write_text(content)
        place.chmod(0o644)

    def _directory(self, parts: Sequence[str]) -> Path:
        """The directory in the upper layer; a merged one looks as it does below."""
        here = self._upper
        for depth, part in enumerate(parts, 1):
            here = here / part
            if here.exists():
                continue
            below = self._below(parts[:depth])
            here.mkdir(0o755)
            if below is not None:
                os.chown(here, below.st_uid, below.st_gid)
                here.chmod(stat.S_IMODE(below.st_mode))
        return here

    def _below(self, parts: Sequence[str]) -> os.stat_result | None:
        """What the layers below show at a path, if that is a directory."""
        if self._hidden(parts):
            return None
        layers = [os.open(lower, LISTABLE) for lower in self._lowers]
        found: os.stat_result | None = None
        try:
            for part in parts:
                merged, found = _step(layers, part)
                for layer in layers:
                    os.close(layer)
                layers = merged
            return found
        finally:
            for layer in layers:
                os.close(layer)

    def _hidden(self, parts: Sequence[str]) -> bool:
        """Whether a fresh directory of ours hides the path from below."""
        return any(_is_opaque(self._upper.joinpath(*parts[:depth])) for depth in range(1, len(parts)))


def _step(layers: Sequence[int], part: str) -> tuple[list[int], os.stat_result | None]:
    """The directories called `part` that merge, and what the uppermost of them is like."""
    merged: list[int] = []
    uppermost: os.stat_result | None = None
    for layer in layers:
        try:
            about = os.stat(part, dir_fd=layer, follow_symlinks=False)
        except OSError:
            continue
        if not stat.S_ISDIR(about.st_mode):
            break
        uppermost = uppermost or about
        merged.append(os.open(part, LISTABLE, dir_fd=layer))
        if _is_opaque(f"/proc/self/fd/{merged[-1]}"):
            break
    return merged, uppermost


def _is_opaque(path: Path | str) -> bool:
    try:
        return os.getxattr(path, OPAQUE) == b"y"
    except OSError:
        return False


def _parts(path: str) -> list[str]:
    """The names on the way to `path`.

    Raises:
        InvariantError: It is no absolute path to something below the root.
    """
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if not path.startswith("/") or not parts or ".." in parts:
        raise InvariantError(f"{path!r} is no absolute path to a directory of its own")
    return parts


def prepare(upper: Path, lowers: Sequence[Path], fresh_dirs: Sequence[str], hostname: str | None) -> None:
    """Everything that a sandbox's upper layer starts with.

    Args:
        upper: The directory.
        lowers: The layers below.
        fresh_dirs: See `SandboxSpec`.
        hostname: Name that /etc/hosts and /etc/hostname get; None keeps what is there, as in a snapshot.
    """
    layer = Upper(upper, lowers)
    for path in MOUNT_POINTS:
        layer.directory(path)
    if hostname is not None:
        hosts = f"127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n127.0.0.1\t{hostname}\n"
        layer.file("/etc/hosts", hosts)
        layer.file("/etc/hostname", f"{hostname}\n")
        layer.file("/etc/resolv.conf", "")
    for path in fresh_dirs:
        layer.fresh(path)
