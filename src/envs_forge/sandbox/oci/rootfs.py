"""Access from the host to a directory tree whose content is hostile.

Every path is resolved by the kernel inside the tree (openat2 with RESOLVE_IN_ROOT): absolute links and `..` start
and end at its root, as they would for a process in it, however the tree changes meanwhile. The last part of a path
is handled relative to its directory's descriptor by calls that do not follow links.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import posixpath
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from envs_forge.sandbox.oci.syscalls import (
    RESOLVE_BENEATH,
    RESOLVE_IN_ROOT,
    RESOLVE_NO_MAGICLINKS,
    RESOLVE_NO_SYMLINKS,
    openat2,
)

DIRECTORY = os.O_PATH | os.O_DIRECTORY
LISTABLE = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
REGULAR = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
PIECE = 1024 * 1024
IN_THE_WAY = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
CHUNK = 3000
"""Bytes of a path resolved at a time: the kernel takes 4,095."""


class Root:
    """An open tree. Use as a context manager.

    Args:
        path: Its root, on the host; not hostile itself.
    """

    def __init__(self, path: Path | str) -> None:
        self.fd = os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)

    def __enter__(self) -> Root:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        os.close(self.fd)

    def open(self, path: str, flags: int) -> int:
        """Open what `path` leads to, links followed inside the tree.

        Raises:
            OSError: As of open(2).
        """
        return openat2(self.fd, path or "/", flags, resolve=RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS)

    def make_directories(self, path: str) -> None:
        """Make the directory `path` if there is nothing; leave it at that where a link or a file is in the way."""
        try:
            os.close(self.open(path, os.O_PATH))
        except FileNotFoundError:
            os.close(self.directory(path))
        except OSError as error:
            if error.errno not in (errno.ENOTDIR, errno.ELOOP):
                raise

    def read(self, path: str, limit: int) -> bytes:
        """Up to `limit` bytes of a regular file; empty when there is none."""
        try:
            descriptor = self.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
        except OSError:
            return b""
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return b""
            return b"".join(iter_bytes(descriptor, limit))
        except OSError:
            return b""
        finally:
            os.close(descriptor)

    @contextlib.contextmanager
    def parent(self, path: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
        """The directory that holds `path`, as a descriptor, and the last part of the path.

        Args:
            path: Anything but the root itself.
            make: Make missing directories (0755, root's).
        """
        above, name = posixpath.split(posixpath.normpath("/" + path.lstrip("/")))
        descriptor = self.directory(above) if make else self.open(above, DIRECTORY)
        try:
            yield descriptor, name
        finally:
            os.close(descriptor)

    def directory(self, path: str) -> int:
        """Open the directory `path`; what is missing of it is made, what is in its way gives way.

        Raises:
            OSError: The filesystem refused.
        """
        try:
            return self.open(path, DIRECTORY)
        except OSError as error:
            if error.errno not in IN_THE_WAY or posixpath.normpath("/" + path.lstrip("/")) == "/":
                raise
        with self.parent(path, make=True) as (above, name):
            try:
                os.mkdir(name, 0o755, dir_fd=above)
            except FileExistsError:
                os.unlink(name, dir_fd=above)
                os.mkdir(name, 0o755, dir_fd=above)
        return self.open(path, DIRECTORY)


def iter_bytes(descriptor: int, limit: int) -> Iterator[bytes]:
    """What can be read of a file, up to `limit` bytes, in pieces."""
    while limit > 0 and (data := os.read(descriptor, min(limit, PIECE))):
        limit -= len(data)
        yield data


def open_beneath(directory: int, parts: list[str], flags: int) -> int:
    """Open the directory at `parts` below `directory`, links refused; any depth.

    Raises:
        OSError: A part is missing, no directory, or a link.
    """
    resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS
    current = os.dup(directory)
    for index, chunk in enumerate(chunks := list(_chunks(parts))):
        try:
            following = openat2(current, chunk, flags if index == len(chunks) - 1 else DIRECTORY, resolve=resolve)
        finally:
            os.close(current)
        current = following
    return current


def _chunks(parts: list[str]) -> Iterator[str]:
    """The path in pieces that the kernel takes; `.` when there are no parts."""
    piece: list[str] = []
    size = 0
    for part in parts:
        length = len(os.fsencode(part)) + 1
        if piece and size + length > CHUNK:
            yield "/".join(piece)
            piece, size = [], 0
        piece.append(part)
        size += length
    yield "/".join(piece) or "."


def remove_tree(directory: int, name: str) -> None:
    """Remove `name` in `directory` with all that it holds, at any depth, in constant memory and descriptors.

    A directory that is not empty is moved up to the top of the tree, and taken apart there.
    """
    if not _remove(directory, name):
        top = os.open(name, LISTABLE, dir_fd=directory)
        try:
            _empty(top)
        finally:
            os.close(top)
        os.rmdir(name, dir_fd=directory)


def _empty(top: int) -> None:
    while names := _some_names(top):
        for name in names:
            if not _remove(top, name):
                _flatten(top, name)


def _flatten(top: int, name: str) -> None:
    """Remove the directory `name` of `top`; directories in it that are not empty move to `top` under new names."""
    inner = os.open(name, LISTABLE, dir_fd=top)
    try:
        while names := _some_names(inner):
            for child in names:
                if not _remove(inner, child):
                    os.rename(child, f".{secrets.token_hex(12)}", src_dir_fd=inner, dst_dir_fd=top)
    finally:
        os.close(inner)
    os.rmdir(name, dir_fd=top)


def _some_names(directory: int) -> list[str]:
    with os.scandir(directory) as entries:
        return [entry.name for entry in itertools.islice(entries, 1000)]


def _remove(directory: int, name: str) -> bool:
    """Unlink or rmdir; False for a directory that is not empty."""
    try:
        os.unlink(name, dir_fd=directory)
        return True
    except FileNotFoundError:
        return True
    except (IsADirectoryError, PermissionError):
        pass
    try:
        os.rmdir(name, dir_fd=directory)
        return True
    except OSError:
        return False
