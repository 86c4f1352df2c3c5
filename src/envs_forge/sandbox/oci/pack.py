"""Packs a path of a hostile tree as a tar stream, one piece at a time.

Links are packed as links. Files that change meanwhile are cut or padded to the size that was announced.
"""

from __future__ import annotations

import os
import posixpath
import stat
import tarfile
from collections.abc import Generator, Iterator

from envs_forge.sandbox.oci.rootfs import DIRECTORY, LISTABLE, PIECE, REGULAR, Root, iter_bytes, open_beneath

BLOCK = tarfile.BLOCKSIZE
KINDS = {
    stat.S_IFDIR: tarfile.DIRTYPE,
    stat.S_IFLNK: tarfile.SYMTYPE,
    stat.S_IFIFO: tarfile.FIFOTYPE,
    stat.S_IFREG: tarfile.REGTYPE,
}
"""Sockets and device nodes have no place in an archive; they are left out."""


def pack(root: Root, path: str) -> Generator[bytes, None, None]:
    """The archive of `path`, whose members are named from its last part on.

    Raises:
        FileNotFoundError: There is nothing; raised before the first piece is asked for.
    """
    clean = posixpath.normpath("/" + path.lstrip("/"))
    try:
        with root.parent(clean) as (directory, name):
            os.stat(name or ".", dir_fd=directory, follow_symlinks=False)
    except OSError as error:
        raise FileNotFoundError(f"nothing at {path} in the sandbox") from error
    return _pieces(root, clean)


def _pieces(root: Root, path: str) -> Generator[bytes, None, None]:
    """Everything from `path` down; `root` stays open meanwhile."""
    with root.parent(path) as (above, last):
        name = label = last or "."
        yield from _member(above, name, label)
        pending: list[list[str]] = [[]]
        here: tuple[list[str], int] = ([], os.dup(above))
        try:
            while pending:
                below = pending.pop()
                directory = _descend(above, name, here, below)
                if directory is None:
                    continue
                os.close(here[1])
                here = (below, directory)
                for entry in _entries(directory):
                    yield from _member(directory, entry, "/".join([label, *below, entry]))
                    if _is_directory(directory, entry):
                        pending.append([*below, entry])
        finally:
            os.close(here[1])
        yield b"\0" * (2 * BLOCK)


def _descend(above: int, name: str, here: tuple[list[str], int], below: list[str]) -> int | None:
    """Open the directory `below`, from the one that was open last where it is in that; None when it has gone."""
    try:
        if below and here[0] == below[:-1]:
            return os.open(below[-1], DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=here[1])
        return open_beneath(above, [name, *below], DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None


def _member(directory: int, name: str, label: str) -> Generator[bytes, None, None]:
    """Header and content of one entry; nothing when it has gone or has no place in an archive."""
    try:
        about = os.stat(name, dir_fd=directory, follow_symlinks=False)
        kind = KINDS.get(stat.S_IFMT(about.st_mode))
        if kind is None:
            return
        info = _header(about, kind, label)
        if kind == tarfile.SYMTYPE:
            info.linkname = os.readlink(name, dir_fd=directory)
        if kind != tarfile.REGTYPE:
            yield info.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape")
            return
        descriptor = os.open(name, REGULAR, dir_fd=directory)
    except OSError:
        return
    try:
        about = os.fstat(descriptor)
        if stat.S_ISREG(about.st_mode):
            info.size = about.st_size
            yield info.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape")
            yield from _content(descriptor, info.size)
    finally:
        os.close(descriptor)


def _header(about: os.stat_result, kind: bytes, label: str) -> tarfile.TarInfo:
    info = tarfile.TarInfo(label)
    info.type = kind
    info.mode = stat.S_IMODE(about.st_mode)
    info.uid, info.gid = about.st_uid, about.st_gid
    info.mtime = int(about.st_mtime)
    return info


def _content(descriptor: int, size: int) -> Iterator[bytes]:
    left = size
    for data in iter_bytes(descriptor, size):
        left -= len(data)
        yield data
    while left > 0:
        piece = min(left, PIECE)
        left -= piece
        yield b"\0" * piece
    yield b"\0" * (-size % BLOCK)


def _entries(directory: int) -> Iterator[str]:
    listable = os.open(".", LISTABLE, dir_fd=directory)
    try:
        with os.scandir(listable) as entries:
            for entry in entries:
                yield entry.name
    finally:
        os.close(listable)


def _is_directory(directory: int, name: str) -> bool:
    try:
        return stat.S_ISDIR(os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode)
    except OSError:
        return False
