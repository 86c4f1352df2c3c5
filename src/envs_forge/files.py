"""Atomic writes: the only place in the code base that puts a finished file or directory on disk.

A reader, or a process started after a kill, sees either the old content or the whole new one. Nothing here knows
what it writes.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from envs_forge.errors import DiskFullError

_FULL = {errno.ENOSPC, errno.EDQUOT}


@contextlib.contextmanager
def disk_faults(path: Path) -> Iterator[None]:
    """Turn "no space left" of anything inside the block into a `DiskFullError` that names the disk's path."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise DiskFullError(f"no space left on the disk of {path}") from error
        raise


def write_bytes(path: Path, data: bytes, *, mode: int = 0o644) -> None:
    """Write a file so that it is there whole or not at all.

    Args:
        path: Where; missing parent directories are made.
        data: The whole content.
        mode: Permission bits of the new file.

    Raises:
        DiskFullError: The disk is full; the old content is untouched.
    """
    with disk_faults(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name[:40]}.", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
                os.fchmod(stream.fileno(), mode)
                stream.flush()
                os.fsync(stream.fileno())
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        sync_directory(path.parent)


def write_text(path: Path, text: str, *, mode: int = 0o644) -> None:
    """`write_bytes` for text, as UTF-8 with the line ends as given."""
    write_bytes(path, text.encode(), mode=mode)


def write_json(path: Path, value: Any) -> None:
    """Write a JSON document for people and programs: indented, keys in the order given, one newline at the end."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


@contextlib.contextmanager
def new_directory(path: Path, *, replace: bool = False, durable: bool = True) -> Iterator[Path]:
    """Fill a directory out of sight and move it into place when the block ends without an error.

    Args:
        path: The final place; missing parents are made.
        replace: Whether a directory that is already there gives way.
        durable: Wait until the disk has it, so that a power cut leaves it whole as well. Not needed for what can be
            written again from something that lasts.

    Yields:
        An empty directory beside `path` to write into.

    Raises:
        FileExistsError: `path` exists and `replace` is False.
        DiskFullError: The disk is full; nothing changed.
    """
    if path.exists() and not replace:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
    with disk_faults(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{path.name[:40]}.", dir=path.parent))
        try:
            temporary.chmod(0o755)
            yield temporary
            if durable:
                _sync_tree(temporary)
            _move_into_place(temporary, path)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
        if durable:
            sync_directory(path.parent)


def sync_directory(path: Path) -> None:
    """Make renames inside a directory last through a power cut, where the filesystem can."""
    with contextlib.suppress(OSError):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _move_into_place(temporary: Path, path: Path) -> None:
    if not path.exists():
        temporary.rename(path)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{path.name[:40]}.old.", dir=path.parent))
    path.rename(old / "replaced")
    temporary.rename(path)
    shutil.rmtree(old, ignore_errors=True)


def _sync_tree(root: Path) -> None:
    for directory, _, names in os.walk(root):
        for name in names:
            _sync_file(Path(directory, name))
        sync_directory(Path(directory))


def _sync_file(path: Path) -> None:
    if path.is_symlink():
        return
    with contextlib.suppress(PermissionError):
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
