"""Disk slots: the cap, reuse, and what is thrown away. Needs root and loop devices."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from envs_forge.errors import EngineError
from envs_forge.sandbox.engine import MiB
from envs_forge.sandbox.oci import slots
from envs_forge.sandbox.oci.slots import LOOP, TMPFS, SlotPool

from .conftest import leftovers

pytestmark = pytest.mark.engine


@pytest.fixture
def pool(tmp_path: Path) -> Iterator[SlotPool]:
    made = SlotPool(tmp_path)
    yield made
    made.close()
    assert leftovers(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def fill(folder: Path, most: int) -> int:
    """Write until the disk is full; returns how many bytes that took."""
    written = 0
    with (folder / "hog").open("wb", buffering=0) as file:
        while written < most:
            try:
                written += file.write(b"x" * 65536)
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
                break
    return written


def test_the_cap_is_what_can_be_written(pool: SlotPool) -> None:
    slot = pool.take(20)
    assert pool.mechanism == LOOP
    written = fill(slot.mount, 100 * MiB)
    slot.discard()
    assert 20 * MiB <= written <= 22 * MiB


def test_a_slot_serves_again_and_is_empty(pool: SlotPool) -> None:
    slot = pool.take(16)
    (slot.mount / "one" / "upper").mkdir(parents=True)
    (slot.mount / "one" / "upper" / "file").write_text("x")
    pool.give_back(slot, "one")
    again = pool.take(16)
    assert again == slot
    assert [path.name for path in again.mount.iterdir()] == ["lost+found"]
    pool.give_back(again, "two")


def test_a_slot_of_another_size_is_another(pool: SlotPool) -> None:
    slot = pool.take(16)
    pool.give_back(slot, "one")
    other = pool.take(17)
    assert other != slot
    other.discard()


def test_a_slot_that_grew_is_thrown_away(pool: SlotPool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slots, "MOST_KEPT", 4 * MiB)
    slot = pool.take(16)
    (slot.mount / "one").mkdir()
    fill(slot.mount / "one", 8 * MiB)
    os.sync()
    pool.give_back(slot, "one")
    assert not slot.mount.exists()


def test_a_slot_with_many_files_is_thrown_away(pool: SlotPool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slots, "MOST_FILES", 100)
    slot = pool.take(16)
    (slot.mount / "one").mkdir()
    for number in range(101):
        (slot.mount / "one" / str(number)).touch()
    pool.give_back(slot, "one")
    assert not slot.mount.exists()


def test_a_slot_that_is_still_in_use_is_thrown_away_once_it_is_not(pool: SlotPool) -> None:
    slot = pool.take(16)
    (slot.mount / "one").mkdir()
    with (slot.mount / "one" / "open").open("w"):
        slot.discard()
        assert not slot.mount.exists()


def test_without_loop_devices_memory_serves(pool: SlotPool, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_loop(place: Path, disk_mb: int) -> slots.Slot:
        raise EngineError("no loop devices")

    monkeypatch.setattr(slots, "_loop_slot", no_loop)
    slot = pool.take(8)
    assert (pool.mechanism, pool.why_tmpfs) == (TMPFS, "no loop devices")
    assert 7 * MiB <= fill(slot.mount, 20 * MiB) <= 8 * MiB
    (slot.mount / "one").mkdir()
    pool.give_back(slot, "one")


def test_idle_slots_are_not_hoarded(pool: SlotPool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slots, "MOST_IDLE", 1)
    taken = [pool.take(16) for _ in range(2)]
    for slot in taken:
        pool.give_back(slot, "one")
    assert [slot.mount.exists() for slot in taken] == [True, False]
