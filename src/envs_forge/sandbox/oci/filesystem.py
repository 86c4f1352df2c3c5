"""A sandbox's root filesystem: an image's layers, and an upper layer in a disk slot."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from pathlib import Path

from envs_forge.errors import EngineError
from envs_forge.sandbox.oci.overlay import mount_overlay, unmount_overlay
from envs_forge.sandbox.oci.slots import Slot, SlotPool

FULL_BYTES = 64 * 1024


class Filesystem:
    """Mounted at `merged` from `mount` to `unmount`.

    Args:
        name: The sandbox's name.
        folder: Its directory on the host.
        lowers: Layers, uppermost first.
        slots: Where disk slots come from.
    """

    def __init__(self, name: str, folder: Path, lowers: Sequence[Path], slots: SlotPool) -> None:
        self.merged = folder / "merged"
        self._name = name
        self._lowers = lowers
        self._slots = slots
        self._slot: Slot | None = None
        self._clean = True

    def mount(self, disk_mb: int, prepare: Callable[[Path], None]) -> None:
        """Take a slot, let `prepare` write into the empty upper layer, mount.

        Raises:
            EngineError: One of these did not work.
        """
        self._slot = self._slots.take(disk_mb)
        place = self._slot.mount / self._name
        upper, work = place / "upper", place / "work"
        try:
            for directory in (place, upper, work):
                directory.mkdir(mode=0o755)
            about = self._lowers[0].stat()
            os.chown(upper, about.st_uid, about.st_gid)
            upper.chmod(stat.S_IMODE(about.st_mode))
            prepare(upper)
        except FileNotFoundError as error:
            raise EngineError(f"a layer is not there: {error}", code="layers-missing") from error
        except OSError as error:
            raise EngineError(f"a sandbox's filesystem could not be prepared: {error}", code="disk-slot") from error
        self.merged.mkdir(exist_ok=True)
        mount_overlay(self._lowers, upper, work, self.merged)

    def is_full(self) -> bool:
        """Whether the cap on what is written has been reached."""
        if self._slot is None:
            return False
        room = os.statvfs(self._slot.mount)
        return room.f_bavail * room.f_frsize < FULL_BYTES or room.f_favail == 0

    def unmount(self) -> None:
        """Unmount. Idempotent."""
        self._clean = unmount_overlay(self.merged) and self._clean

    def give_upper(self) -> tuple[Slot, Path]:
        """After `unmount`: the slot and the upper layer in it, which are the caller's from here on."""
        if self._slot is None:
            raise EngineError("the sandbox has no filesystem")
        slot, self._slot = self._slot, None
        return slot, slot.mount / self._name / "upper"

    def remove(self) -> None:
        """Unmount, and give the slot back. Idempotent."""
        self.unmount()
        slot, self._slot = self._slot, None
        if slot is None:
            return
        if self._clean:
            self._slots.give_back(slot, self._name)
        else:
            slot.discard()
