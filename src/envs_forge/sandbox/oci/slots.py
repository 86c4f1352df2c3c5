"""Disk slots: the cap on what a sandbox writes.

A slot is a sparse file with an ext4 in it, as large as the cap, mounted over a loop device. The sandbox's upper layer
lies in it, so the cap is a full disk: exact, for files and for inodes, and out of reach from inside. One slot serves
one living sandbox or snapshot; it stays mounted and serves the next when that one is gone. A slot that grew, or whose
clean-up failed, is thrown away: that costs less than emptying it.

Where there are no loop devices, a slot is a tmpfs of that size; what a sandbox writes then counts as its memory.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import struct
import threading
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from envs_forge.errors import DiskFullError, EngineError
from envs_forge.sandbox.engine import MiB
from envs_forge.sandbox.oci.rootfs import LISTABLE, remove_tree
from envs_forge.sandbox.oci.syscalls import MNT_DETACH, new_mount, unmount
from envs_forge.sandbox.oci.tools import run

LOOP, TMPFS = "ext4 over a loop device", "tmpfs (counts as memory)"
INODE_BYTES = 256
BYTES_AN_INODE = 16 * 1024
FEWEST_INODES = 16 * 1024
MOST_IDLE = 16
MOST_FILES = 5_000
MOST_KEPT = 256 * MiB
FEATURES = "^has_journal,^resize_inode"
EXT4_IOC_SHUTDOWN, WITHOUT_FLUSH = 0x8004587D, 2
OPTIONS = "loop,nobarrier,noinit_itable,noauto_da_alloc,nodev"


@dataclass(frozen=True, slots=True)
class Slot:
    """One mounted slot.

    Attributes:
        mount: Where it is mounted.
        disk_mb: Its cap.
        file: The sparse file; None for a tmpfs.
    """

    mount: Path
    disk_mb: int
    file: Path | None

    def discard(self) -> None:
        """Unmount it and give its space back to the host; what it holds is not written out first."""
        if self.file is not None:
            _shut_down(self.mount)
        try:
            unmount(str(self.mount))
        except OSError:
            with contextlib.suppress(OSError):
                unmount(str(self.mount), MNT_DETACH)
        if self.file is not None:
            self.file.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self.mount.rmdir()


class SlotPool:
    """The slots of one engine.

    Args:
        folder: Where they lie.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._idle: dict[int, list[Slot]] = defaultdict(list)
        self._lock = threading.Lock()
        self._made = 0
        self._closed = False
        self.mechanism = LOOP
        """The one in force: `LOOP` or `TMPFS`."""
        self.why_tmpfs = ""

    def take(self, disk_mb: int) -> Slot:
        """An empty slot of that size.

        Raises:
            DiskFullError: The host has no room for it.
            EngineError: None can be made.
        """
        with self._lock:
            if self._idle[disk_mb]:
                return self._idle[disk_mb].pop()
            self._made += 1
            place = self._folder / str(self._made)
        place.mkdir()
        if self.mechanism == LOOP:
            try:
                return _loop_slot(place, disk_mb)
            except DiskFullError:
                raise
            except EngineError as error:
                self.mechanism, self.why_tmpfs = TMPFS, error.message
        return _tmpfs_slot(place, disk_mb)

    def give_back(self, slot: Slot, name: str) -> None:
        """Take a slot back whose user has removed everything but the directory `name`; idempotent for `name`."""
        if not _emptied(slot, name) or self._is_full():
            slot.discard()
            return
        with self._lock:
            if not self._closed:
                self._idle[slot.disk_mb].append(slot)
                return
        slot.discard()

    def close(self) -> None:
        """Discard the idle slots, and each further one as it comes back."""
        with self._lock:
            self._closed = True
            idle = [slot for slots in self._idle.values() for slot in slots]
            self._idle.clear()
        for slot in idle:
            slot.discard()

    def _is_full(self) -> bool:
        with self._lock:
            return sum(len(slots) for slots in self._idle.values()) >= MOST_IDLE


def _loop_slot(place: Path, disk_mb: int) -> Slot:
    """Make one; its metadata comes on top, so that the cap is what can be written."""
    inodes = max(disk_mb * MiB // BYTES_AN_INODE, FEWEST_INODES)
    file = place.with_suffix(".img")
    try:
        with file.open("xb") as image:
            image.truncate(disk_mb * MiB + inodes * INODE_BYTES + disk_mb * MiB // 256 + MiB)
        run("mke2fs", "-q", "-F", "-t", "ext4", "-O", FEATURES, "-m", "0", "-I", str(INODE_BYTES), "-N", str(inodes),
            "-E", "lazy_itable_init=1,nodiscard,root_owner=0:0", str(file))  # fmt: skip
        run("mount", "-t", "ext4", "-o", OPTIONS, str(file), str(place))
    except BaseException:
        file.unlink(missing_ok=True)
        raise
    return Slot(place, disk_mb, file)


def _shut_down(mount: Path) -> None:
    """Tell ext4 to drop what it has not written yet."""
    with contextlib.suppress(OSError):
        directory = os.open(mount, LISTABLE)
        try:
            fcntl.ioctl(directory, EXT4_IOC_SHUTDOWN, struct.pack("I", WITHOUT_FLUSH))
        finally:
            os.close(directory)


def _tmpfs_slot(place: Path, disk_mb: int) -> Slot:
    inodes = max(disk_mb * MiB // BYTES_AN_INODE, FEWEST_INODES)
    try:
        new_mount("tmpfs", [("size", f"{disk_mb}m"), ("nr_inodes", str(inodes)), ("mode", "0700")], str(place))
    except OSError as error:
        raise EngineError(f"no disk slot can be made: {error}", code="disk-slot") from error
    return Slot(place, disk_mb, None)


def _emptied(slot: Slot, name: str) -> bool:
    """Remove the last user's directory; False when the slot is not worth keeping."""
    try:
        used = os.statvfs(slot.mount)
        if used.f_files - used.f_ffree > MOST_FILES:
            return False
        directory = os.open(slot.mount, LISTABLE)
        try:
            remove_tree(directory, name)
        finally:
            os.close(directory)
        return slot.file is None or slot.file.stat().st_blocks * 512 <= MOST_KEPT
    except OSError:
        return False
