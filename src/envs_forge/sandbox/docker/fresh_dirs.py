"""Makes directories fresh in a container that has not started yet, whatever its image holds in their place."""

from __future__ import annotations

import io
import tarfile
import time
from collections.abc import Sequence


def fresh_dirs_archive(paths: Sequence[str]) -> bytes:
    """A tar to unpack at `/` so that each path is an empty directory of root's afterwards.

    The engine unpacks entry by entry, and an entry of another type replaces what lies at its path, as a whole.
    So a parent is turned into a directory if it is none (an existing one is merged), then an empty file takes the
    place of whatever was at the path, then a directory takes the place of the file.
    """
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for path in paths:
            parts = [part for part in path.split("/") if part]
            for depth in range(1, len(parts)):
                tar.addfile(_entry("/".join(parts[:depth]), tarfile.DIRTYPE))
            tar.addfile(_entry("/".join(parts), tarfile.REGTYPE))
            tar.addfile(_entry("/".join(parts), tarfile.DIRTYPE))
    return buffer.getvalue()


def directory_archive(path: str) -> bytes:
    """A tar to unpack at `/` so that `path` is a directory; one that is there keeps its content."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as tar:
        tar.addfile(_entry(path.strip("/"), tarfile.DIRTYPE))
    return buffer.getvalue()


def _entry(name: str, kind: bytes) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type = kind
    info.mode = 0o755
    info.mtime = time.time()
    return info
