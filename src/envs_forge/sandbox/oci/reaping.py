"""Removes what an owner left in its directory: containers, control groups, mounts, loop devices, files."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from envs_forge.errors import ForgeError
from envs_forge.sandbox.leftover import Leftover
from envs_forge.sandbox.oci.cgroups import kill_all
from envs_forge.sandbox.oci.container import remove
from envs_forge.sandbox.oci.layer_cache import half_done, remove_half_done
from envs_forge.sandbox.oci.layer_trim import tree_bytes
from envs_forge.sandbox.oci.state import Home, dead_homes, drop_home
from envs_forge.sandbox.oci.syscalls import MNT_DETACH, unmount
from envs_forge.sandbox.oci.tools import PACKAGES


def reap_dead(root: Path) -> int:
    """Remove what dead owners left below a state directory; returns how many things it was."""
    return sum(remove_home(home, helpers=True) for home in dead_homes(root)) + remove_half_done(root / "layers")


def left_by_the_dead(root: Path) -> list[Leftover]:
    """What `reap_dead` would remove; nothing is touched."""
    found: list[Leftover] = []
    for home in dead_homes(root):
        found += [Leftover("sandbox", place.name) for place in _children(home.sandboxes)]
        found += [Leftover("disk-slot", str(slot), slot.stat().st_blocks * 512) for slot in _slots(home)]
        os.close(home.lock)
    return found + [Leftover("half-made-layer", str(path), tree_bytes(path)) for path in half_done(root / "layers")]


def remove_home(home: Home, *, helpers: bool = False) -> int:
    """Remove an owner's directory with all that belongs to it.

    Args:
        home: The directory, locked by the caller.
        helpers: Kill programs that the owner started and that still run (runc, mount).

    Returns:
        How many sandboxes and slots were there.
    """
    if helpers:
        kill_all(_helpers(home.path))
    sandboxes = _children(home.sandboxes)
    slots = _slots(home)
    whole = all([_removed(sandbox.name, home) for sandbox in sandboxes])
    for place in sorted(_mounts_below(home.path), reverse=True):
        with contextlib.suppress(OSError):
            unmount(place, MNT_DETACH)
    if whole and not _mounts_below(home.path):
        drop_home(home)
    else:
        os.close(home.lock)  # what is left is for a later reaper
    return len(sandboxes) + len(slots)


def _removed(name: str, home: Home) -> bool:
    try:
        remove(name, home.runtime)
    except ForgeError:
        return False
    return True


def _slots(home: Home) -> list[Path]:
    return [file for file in _children(home.slots) if file.suffix == ".img"]


def _children(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _mounts_below(folder: Path) -> list[str]:
    places = []
    for line in Path("/proc/self/mountinfo").read_text(errors="surrogateescape").splitlines():
        place = line.split(" ")[4].replace("\\040", " ")
        if Path(place).is_relative_to(folder):
            places.append(place)
    return places


def _helpers(folder: Path) -> list[int]:
    """Our own helpers that were at work on something in `folder`."""
    sign = os.fsencode(f"{folder}/")
    found = []
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            with contextlib.suppress(OSError):
                program, _, arguments = (place / "cmdline").read_bytes().partition(b"\0")
                if sign in arguments and os.path.basename(program).decode(errors="replace") in PACKAGES:  # noqa: PTH119
                    found.append(int(place.name))
    return found
