"""System calls that Python has no function for: the mount API, openat2, umount2. Linux only.

Numbers above 424 are the same on every machine; `umount2` comes from libc.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Iterable
from functools import cache

OPEN_TREE, MOVE_MOUNT, FSOPEN, FSCONFIG, FSMOUNT, OPENAT2 = 428, 429, 430, 431, 432, 437

FSOPEN_CLOEXEC = FSMOUNT_CLOEXEC = 1
FSCONFIG_SET_FLAG, FSCONFIG_SET_STRING, FSCONFIG_CMD_CREATE = 0, 1, 6
MOVE_MOUNT_F_EMPTY_PATH = 4
MOUNT_ATTR_NOSUID, MOUNT_ATTR_NODEV = 2, 4
MNT_DETACH = 2
MS_BIND, MS_PRIVATE = 4096, 1 << 18
RESOLVE_NO_MAGICLINKS, RESOLVE_NO_SYMLINKS, RESOLVE_BENEATH, RESOLVE_IN_ROOT = 2, 4, 8, 16
AT_FDCWD = -100


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def openat2(directory: int, path: str | bytes, flags: int, *, resolve: int, mode: int = 0) -> int:
    """Open `path` relative to the descriptor `directory` under the kernel's own rules for links.

    Raises:
        OSError: As of open(2); EXDEV where the path would leave `directory`.
    """
    how = struct.pack("QQQ", flags | os.O_CLOEXEC, mode, resolve)
    name = os.fsencode(path) + b"\0"
    for _ in range(64):
        opened = _libc().syscall(OPENAT2, directory, name, how, len(how))
        if opened >= 0:
            return int(opened)
        if ctypes.get_errno() != errno.EAGAIN:  # a rename elsewhere raced with a lookup of `..`
            break
    raise _error(path)


def new_mount(kind: str, options: Iterable[tuple[str, str | None]], target: str, *, attributes: int = 0) -> None:
    """Mount a new filesystem at `target`, one option at a time, so that their sum may exceed a page.

    Args:
        kind: Type of the filesystem.
        options: Name and value; None for a flag.
        target: An existing directory.
        attributes: MOUNT_ATTR_… bits.

    Raises:
        OSError: What the kernel said, with its own words where it has some.
    """
    context = _checked(_libc().syscall(FSOPEN, kind.encode(), FSOPEN_CLOEXEC), kind)
    try:
        for key, value in options:
            _configure(context, key, value)
        _checked(_libc().syscall(FSCONFIG, context, FSCONFIG_CMD_CREATE, None, None, 0), target, context)
        mount = _checked(_libc().syscall(FSMOUNT, context, FSMOUNT_CLOEXEC, attributes), target, context)
    finally:
        os.close(context)
    try:
        where = os.fsencode(target)
        _checked(_libc().syscall(MOVE_MOUNT, mount, b"", AT_FDCWD, where, MOVE_MOUNT_F_EMPTY_PATH), target)
    finally:
        os.close(mount)


def mount(source: str, target: str, flags: int) -> None:
    """Bind a directory, or change how a mount spreads."""
    _checked(_libc().mount(source.encode(), os.fsencode(target), None, flags, None), target)


def unmount(target: str, flags: int = 0) -> None:
    """Unmount."""
    _checked(_libc().umount2(os.fsencode(target), flags), target)


def _configure(context: int, key: str, value: str | None) -> None:
    command = FSCONFIG_SET_FLAG if value is None else FSCONFIG_SET_STRING
    data = None if value is None else os.fsencode(value)
    _checked(_libc().syscall(FSCONFIG, context, command, key.encode(), data, 0), f"{key}={value}", context)


def _checked(result: int, about: str, context: int | None = None) -> int:
    if result < 0:
        raise _error(about, context)
    return int(result)


def _error(about: str | bytes, context: int | None = None) -> OSError:
    number = ctypes.get_errno()
    said = _kernel_words(context) if context is not None else ""
    return OSError(number, said or os.strerror(number), os.fsdecode(about))


def _kernel_words(context: int) -> str:
    """The last message that the kernel attached to a mount context."""
    try:
        return os.read(context, 4096).decode(errors="replace").strip()
    except OSError:
        return ""
