"""Hostile builds: what their steps use is capped, and nothing stays behind."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from envs_forge.errors import DiskFullError
from envs_forge.sandbox.images import build_limits, store
from envs_forge.sandbox.images.build_limits import build_place, is_nearly_full
from envs_forge.sandbox.images.model import BuildCode, BuildFault
from envs_forge.sandbox.images.registry import RegistryPolicy
from envs_forge.sandbox.images.store import ImageStore
from envs_forge.sandbox.oci.cgroups import trees
from waiting import eventually

from ..bundles import bundle

pytestmark = pytest.mark.engine


@pytest.fixture
def images(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ImageStore]:
    """Builds under small limits, in a group of their own."""
    group = f"envs-forge-builds-{uuid4().hex[:8]}"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(build_limits, "GROUP", group)
    monkeypatch.setattr(build_limits, "_memory", lambda: 200 * 2**20)
    monkeypatch.setattr(build_limits, "MOST_PROCESSES", 60)
    monkeypatch.setattr(build_limits, "ULIMITS", ("--ulimit", "fsize=10000000"))
    yield ImageStore(registry=RegistryPolicy.NEVER)

    def gone() -> bool:
        build_limits.remove_idle()  # a build that was stopped takes a moment to go
        return not any((tree / group).exists() for tree in trees())

    assert eventually(gone)


def failed(images: ImageStore, step: str) -> BuildFault:
    outcome = images.ensure(bundle(f"FROM debian:12\nRUN {step} # {uuid4()}\n", build_timeout_sec=60))
    assert isinstance(outcome, BuildFault)
    assert outcome.code is BuildCode.FAILED
    return outcome


def in_groups(images: ImageStore) -> None:
    if os.geteuid() != 0 or not build_place(images.local._client)[0]._usable:
        pytest.skip("this engine does not put builds into groups of ours")


def test_memory_is_capped_and_the_reason_told(images: ImageStore) -> None:
    in_groups(images)
    assert failed(images, "python3 -c 'bytearray(600 << 20)'").message.endswith(store.KILLED)


def test_processes_are_capped(images: ImageStore) -> None:
    in_groups(images)
    found = failed(images, "for i in $(seq 200); do sleep 5 & done; wait")
    assert "fork" in found.log_tail.lower()


def test_a_file_cannot_outgrow_the_cap(images: ImageStore) -> None:
    assert failed(images, "bash -c 'head -c 100G /dev/zero > /big'; test $(stat -c %s /big) -lt 10000000").log_tail


def test_a_build_that_fills_the_disk_is_stopped_and_blamed_on_nobody(
    images: ImageStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "is_nearly_full", lambda place: True)
    with pytest.raises(DiskFullError):
        images.ensure(bundle(f"FROM debian:12\nRUN sleep 60 # {uuid4()}\n"))


def test_room_on_the_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert not is_nearly_full(None)
    assert not is_nearly_full(tmp_path / "nowhere")
    monkeypatch.setattr(build_limits, "LEAST_FREE", 2**62)
    assert is_nearly_full(tmp_path)
