"""Mounts a root filesystem: read-only layers below, one writable directory on top."""

from __future__ import annotations

import ctypes
import errno
import os
import time
from collections.abc import Sequence
from pathlib import Path

from envs_forge.errors import EngineError
from envs_forge.sandbox.oci.syscalls import MNT_DETACH, MOUNT_ATTR_NODEV, new_mount, unmount

MS_NODEV = 4
PAGE = 4095
BUSY_S = 5.0
FIXED = (("redirect_dir", "off"), ("metacopy", "off"), ("index", "off"))
"""As Docker mounts its own: an image behaves the same on either engine. (`index` would also tie a lower layer to one
mount.) `volatile` is added where the kernel has it: nothing in a sandbox outlives a crash, so fsync need not wait."""


def mount_overlay(lowers: Sequence[Path], upper: Path, work: Path, target: Path) -> None:
    """Mount at `target`.

    Args:
        lowers: Read-only layers, uppermost first.
        upper: What is written; on one filesystem with `work`.
        work: An empty directory.
        target: An existing directory.

    Raises:
        EngineError: The kernel refused; `layers-missing` when a layer is not there.
    """
    options: list[tuple[str, str | None]] = [("source", "overlay")]
    options += [("lowerdir+", str(lower)) for lower in lowers]
    options += [("upperdir", str(upper)), ("workdir", str(work)), *FIXED, ("volatile", None)]
    try:
        new_mount("overlay", options, str(target), attributes=MOUNT_ATTR_NODEV)
    except OSError as error:
        if error.errno in (errno.EINVAL, errno.ENOSYS) and all(lower.is_dir() for lower in lowers):
            return _mount_in_one_page(lowers, upper, work, target)
        code = "layers-missing" if error.errno == errno.ENOENT else "mount"
        raise EngineError(f"a sandbox's filesystem could not be mounted: {error.strerror}", code=code) from error


def unmount_overlay(target: Path) -> bool:
    """Unmount; what is not mounted is fine. False when it was still in use and lives on, detached, for a while."""
    end = time.monotonic() + BUSY_S
    while True:
        try:
            unmount(str(target))
            return True
        except OSError as error:
            if error.errno in (errno.EINVAL, errno.ENOENT, errno.EPERM):  # who may not unmount has not mounted
                return True
            if error.errno != errno.EBUSY:
                raise EngineError(f"a sandbox's filesystem could not be unmounted: {error}", code="mount") from error
        if time.monotonic() > end:
            unmount(str(target), MNT_DETACH)
            return False
        time.sleep(0.005)


def _mount_in_one_page(lowers: Sequence[Path], upper: Path, work: Path, target: Path) -> None:
    """The older way, for kernels before 6.8: all options in one page, which holds some 60 layers under short names."""
    texts = ["lowerdir=" + ":".join(_escaped(lower) for lower in lowers), f"upperdir={upper}", f"workdir={work}"]
    data = ",".join([*texts, *(f"{key}={value}" for key, value in FIXED)])
    if len(os.fsencode(data)) > PAGE:
        raise EngineError("too many layers for this kernel's mount options", code="too-many-layers")
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"overlay", os.fsencode(target), b"overlay", MS_NODEV, os.fsencode(data)):
        reason = os.strerror(ctypes.get_errno())
        raise EngineError(f"a sandbox's filesystem could not be mounted: {reason}", code="mount")


def _escaped(path: Path) -> str:
    return str(path).replace("\\", "\\\\").replace(":", "\\:").replace(",", "\\,")
