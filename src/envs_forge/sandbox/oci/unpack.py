"""Unpacks a tar stream into a hostile tree; see `rootfs` for how links are kept inside it.

What is in the way of a file is replaced, never written through: a link, a pipe, a file with other names.
"""

from __future__ import annotations

import os
import posixpath
import shutil
import stat
import tarfile
from typing import IO

from envs_forge.errors import EngineError
from envs_forge.sandbox.forking import settle
from envs_forge.sandbox.oci.rootfs import Root, remove_tree

CHUNK = 1024 * 1024
WHITEOUT = ".wh."
OPAQUE = ".wh..wh..opq"
XATTR = "SCHILY.xattr."
KEPT_XATTRS = ("security.capability", "user.")


def unpack(root: Root, target: str, stream: IO[bytes], *, layer: bool = False) -> None:
    """Unpack an uncompressed tar under `target`, which is made if it is missing; memory stays flat.

    Args:
        root: The tree.
        target: A directory in it.
        stream: The archive, read once from its start.
        layer: It is an image's layer: whiteouts become overlayfs's own, device nodes and attributes are kept.

    Raises:
        EngineError: `bad-archive`.
        OSError: The filesystem refused, ENOSPC among it.
    """
    os.close(root.directory(target))
    try:
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            for member in archive:
                archive.members = []  # type: ignore[attr-defined]  # a stream is read once: its past need not be kept
                _place(root, target, archive, member, layer=layer)
    except tarfile.TarError as error:
        raise EngineError(f"the archive cannot be read: {error}", code="bad-archive") from error
    finally:
        settle()


def _place(root: Root, target: str, archive: tarfile.TarFile, member: tarfile.TarInfo, *, layer: bool) -> None:
    path = _inside(target, member.name)
    if posixpath.normpath(member.name) in (".", "/"):
        return
    with root.parent(path, make=True) as (directory, name):
        if layer and name.startswith(WHITEOUT):
            _whiteout(directory, name)
            return
        _clear_the_way(directory, name, member)
        if member.isreg():
            _file(directory, name, archive, member)
        elif member.isdir():
            _directory(directory, name)
        elif member.issym():
            os.symlink(member.linkname, name, dir_fd=directory)
        elif member.islnk():
            _hard_link(root, _inside(target, member.linkname), directory, name)
            return
        elif member.isfifo() or (layer and member.isdev()):
            _node(directory, name, member)
        else:
            raise EngineError(f"{member.name!r} is of a type that is not unpacked", code="bad-archive")
        _attributes(directory, name, member, layer=layer)


def _inside(target: str, name: str) -> str:
    """The member's path in the tree.

    Raises:
        EngineError: It leaves the target.
    """
    if ".." in name.split("/"):
        raise EngineError(f"{name!r} leaves the archive", code="bad-archive")
    return posixpath.join("/", target, name.lstrip("/"))


def _clear_the_way(directory: int, name: str, member: tarfile.TarInfo) -> None:
    try:
        there = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return
    if not (member.isdir() and stat.S_ISDIR(there.st_mode)):
        remove_tree(directory, name)


def _file(directory: int, name: str, archive: tarfile.TarFile, member: tarfile.TarInfo) -> None:
    content = archive.extractfile(member)
    if content is None:
        raise EngineError(f"{member.name!r} has no content", code="bad-archive")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(name, flags, 0o600, dir_fd=directory), "wb", buffering=0) as file:
        shutil.copyfileobj(content, file, CHUNK)


def _directory(directory: int, name: str) -> None:
    try:
        os.mkdir(name, 0o700, dir_fd=directory)
    except FileExistsError:
        return


def _hard_link(root: Root, source: str, directory: int, name: str) -> None:
    with root.parent(source) as (source_directory, source_name):
        os.link(source_name, name, src_dir_fd=source_directory, dst_dir_fd=directory, follow_symlinks=False)


def _node(directory: int, name: str, member: tarfile.TarInfo) -> None:
    if member.isfifo():
        os.mkfifo(name, 0o600, dir_fd=directory)
        return
    kind = stat.S_IFCHR if member.ischr() else stat.S_IFBLK
    os.mknod(name, kind | 0o600, os.makedev(member.devmajor, member.devminor), dir_fd=directory)


def _attributes(directory: int, name: str, member: tarfile.TarInfo, *, layer: bool) -> None:
    """Owner, mode, attributes and time, in the order in which none undoes another."""
    os.chown(name, member.uid, member.gid, dir_fd=directory, follow_symlinks=False)
    if not member.issym():
        descriptor = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)
        try:
            itself = f"/proc/self/fd/{descriptor}"
            os.chmod(itself, stat.S_IMODE(member.mode))  # noqa: PTH101
            for key, value in _xattrs(member) if layer else ():
                os.setxattr(itself, key, value)
        finally:
            os.close(descriptor)
    moment = int(member.mtime * 1_000_000_000)
    os.utime(name, ns=(moment, moment), dir_fd=directory, follow_symlinks=False)


def _xattrs(member: tarfile.TarInfo) -> list[tuple[str, bytes]]:
    named = [(key.removeprefix(XATTR), value) for key, value in member.pax_headers.items() if key.startswith(XATTR)]
    return [(key, value.encode("utf-8", "surrogateescape")) for key, value in named if key.startswith(KEPT_XATTRS)]


def _whiteout(directory: int, name: str) -> None:
    """What a layer removes from those below it, as overlayfs wants it."""
    if name == OPAQUE:
        os.setxattr(f"/proc/self/fd/{directory}", "trusted.overlay.opaque", b"y")
    else:
        hidden = name.removeprefix(WHITEOUT)
        os.mknod(hidden, stat.S_IFCHR, os.makedev(0, 0), dir_fd=directory)
