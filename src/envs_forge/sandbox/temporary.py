"""Temporary directories that say whose they are, so that those of dead processes can be told and removed."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from envs_forge.sandbox import owner

PREFIX = "envs-forge-"
UNMARKED_AGE_S = 24 * 3600.0
"""A directory of ours that does not say whose it is (an older version's) counts as left behind after this."""


@contextlib.contextmanager
def temporary_directory(kind: str) -> Iterator[Path]:
    """A directory that is removed at the end of the block; `kind` is a word for its name."""
    with tempfile.TemporaryDirectory(prefix=f"{PREFIX}{kind}-{owner.current().mark()}-") as folder:
        yield Path(folder)


def dead_directories(root: Path | None = None) -> list[Path]:
    """Directories that dead processes left.

    Args:
        root: Where to look; default the directory for temporary files.
    """
    place = root or Path(tempfile.gettempdir())
    found = (path for path in place.glob(f"{PREFIX}*-*") if path.is_dir() and not path.is_symlink())
    return sorted(path for path in found if _is_dead(path))


def remove_dead_directories(root: Path | None = None) -> int:
    """Remove them; returns how many there were."""
    dead = dead_directories(root)
    for path in dead:
        shutil.rmtree(path, ignore_errors=True)
    return len(dead)


def _is_dead(path: Path) -> bool:
    marks = [found for found in map(owner.parse, path.name.split("-")) if found is not None]
    if marks:
        return marks[-1].is_dead()
    if not path.name.startswith(f"{PREFIX}build-"):
        return False
    with contextlib.suppress(OSError):
        return time.time() - path.stat().st_mtime > UNMARKED_AGE_S
    return False
