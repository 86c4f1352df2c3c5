"""A frozen filesystem: the upper layer of a sandbox that is gone, as a layer of others."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from envs_forge.sandbox.changes import layer_changes
from envs_forge.sandbox.engine import FileChange, Image
from envs_forge.sandbox.interrupts import deferred_interrupts
from envs_forge.sandbox.oci.layers import Layers


class OciSnapshot:
    """Implements `Snapshot`; made by `OciSandbox.snapshot`.

    Args:
        image: The image that the sandbox was started from.
        base: What the sandbox stood on.
        upper: What it wrote.
        free: Gives the disk slot back; called once, with the snapshot.
    """

    def __init__(self, image: Image, base: Base, upper: Path, free: Callable[[OciSnapshot], None]) -> None:
        self._image = image
        self._base = base
        self._upper = upper
        self._free = free
        self._users = 0
        self._released = False
        self._freed = False
        self._lock = threading.Lock()
        base.hold()

    @property
    def image(self) -> Image:
        """See `Snapshot.image`."""
        return self._image

    @property
    def lowers(self) -> tuple[Path, ...]:
        """Layers of a sandbox that is made from it, uppermost first."""
        return (self._upper, *self._base.lowers)

    @property
    def layers(self) -> Layers:
        """The image's layers below."""
        return self._base.layers

    def changes(self) -> list[FileChange]:
        """See `Snapshot.changes`."""
        return layer_changes(self._upper)

    def release(self) -> None:
        """See `Snapshot.release`. While a sandbox still stands on it, only the last `let_go` frees the space."""
        self._released = True
        self._settle()

    def hold(self) -> None:
        """A sandbox or a snapshot stands on it."""
        with self._lock:
            self._users += 1

    def let_go(self) -> None:
        """It does no longer."""
        with self._lock:
            self._users -= 1
        self._settle()

    def _settle(self) -> None:
        with deferred_interrupts():
            with self._lock:
                if not self._released or self._users or self._freed:
                    return
                self._freed = True
            self._free(self)
            self._base.let_go()


@dataclass(frozen=True, slots=True)
class Base:
    """What a sandbox stands on.

    Attributes:
        lowers: Layers, uppermost first.
        layers: Those of them that the docker engine owns.
        snapshot: The snapshot among them.
    """

    lowers: tuple[Path, ...]
    layers: Layers
    snapshot: OciSnapshot | None = None

    def hold(self) -> None:
        """Keep the snapshot from being freed."""
        if self.snapshot is not None:
            self.snapshot.hold()

    def let_go(self) -> None:
        """The counterpart of `hold`."""
        if self.snapshot is not None:
            self.snapshot.let_go()
