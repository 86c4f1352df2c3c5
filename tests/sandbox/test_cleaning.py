"""What killed processes leave is found and removed; what a living one has or uses is not touched."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from envs_forge.errors import UserError
from envs_forge.sandbox import cleaning, owner
from envs_forge.sandbox.cleaning import clean
from envs_forge.sandbox.engine import Engine, Image
from envs_forge.sandbox.images.local import LocalImages, StoredImage
from envs_forge.sandbox.images.store import ImageStore, image_uses
from envs_forge.sandbox.oci.layer_cache import LayerCache
from envs_forge.sandbox.oci.layer_trim import trim
from envs_forge.sandbox.sizes import bytes_of, human
from envs_forge.sandbox.temporary import dead_directories, remove_dead_directories, temporary_directory
from envs_forge.sandbox.uses import Uses

from .bundles import bundle
from .oci.test_layers import layer, saved_as_oci

HOLD = """
import sys, threading
from pathlib import Path
from envs_forge.sandbox.auto import make_engine
from envs_forge.sandbox.engine import Image, SandboxSpec
from envs_forge.sandbox.temporary import temporary_directory
from envs_forge.sandbox.uses import Uses
Uses(Path(sys.argv[1])).note("theirs")
with temporary_directory("build") as folder:
    image = Image(sys.argv[3], "", workdir="/")
    sandbox = make_engine(sys.argv[2]).create(image, SandboxSpec()) if sys.argv[2] else None
    print(folder, sandbox.id if sandbox else "", flush=True)
    threading.Event().wait()
"""


class Holder:
    """A process that holds a temporary directory, a use and (on an engine) a sandbox."""

    def __init__(self, root: Path, engine: str = "", image: str = "") -> None:
        argv = [sys.executable, "-c", HOLD, str(root), engine, image]
        self.process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        folder, _, self.sandbox = self.process.stdout.readline().rstrip("\n").partition(" ")
        self.folder = Path(folder)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A machine of our own: state, temporary files and caches."""
    for name, variable in (("state", "ENVS_FORGE_STATE"), ("tmp", "TMPDIR"), ("cache", "XDG_CACHE_HOME")):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(variable, str(tmp_path / name))
    monkeypatch.setattr(tempfile, "tempdir", None)
    yield tmp_path
    tempfile.tempdir = None


@pytest.fixture
def killed_later() -> Iterator[list[Holder]]:
    holders: list[Holder] = []
    yield holders
    for holder in holders:
        holder.kill()


@pytest.mark.engine
def test_what_a_killed_process_left_is_removed(
    place: Path, engine: Engine, plain: Image, killed_later: list[Holder]
) -> None:
    dead, alive = (Holder(place / "uses", engine.name, plain.id) for _ in range(2))
    killed_later += [dead, alive]
    assert dead.folder.parent == place / "tmp"
    dead.kill()
    if engine.name == "oci":
        would = {(one.kind, one.name) for one in clean(dry_run=True).found}
        assert ("temporary-directory", str(dead.folder)) in would
        assert ("sandbox", dead.sandbox) in would
        assert dead.folder.exists()
    done = clean()
    assert done.problems == []
    assert not dead.folder.exists()
    assert alive.folder.exists()
    names = subprocess.check_output(["docker", "ps", "-a", "--format", "{{.Names}}"], text=True).split()
    names += [path.name for path in (place / "state/oci/owners").glob("*/run/sandboxes/*")]
    assert dead.sandbox not in names
    assert alive.sandbox in names
    alive.kill()
    clean()
    assert not list((place / "state/oci/owners").glob("*"))


def test_temporary_directories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    old, new, other = (tmp_path / name for name in ("envs-forge-build-1234", "envs-forge-build-5678", "envs-forge-x-y"))
    for path in (old, new, other):
        path.mkdir()
    day = time.time() - 25 * 3600
    for path in (old, other):
        os.utime(path, (day, day))
    (tmp_path / "envs-forge-link-x").symlink_to(other)
    with temporary_directory("build") as mine:
        assert dead_directories() == [old]
        assert remove_dead_directories() == 1
        assert mine.is_dir()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "envs-forge-build-5678",
        "envs-forge-link-x",
        other.name,
    ]


def test_uses_of_the_dead_do_not_count(place: Path, killed_later: list[Holder]) -> None:
    uses = Uses(place / "uses")
    assert not uses.in_use("theirs")
    assert uses.last("theirs") == 0
    holder = Holder(place / "uses")
    killed_later.append(holder)
    assert uses.in_use("theirs")
    holder.kill()
    assert not uses.in_use("theirs")
    assert time.time() - uses.last("theirs") < 60
    assert (uses.note("mine"), uses.note("mine"), uses.in_use("mine")) == (True, False, True)
    assert uses.note("theirs")
    assert [file.name for file in uses._files("theirs")] == [owner.current().mark()]
    uses.forget("mine")
    assert not uses.in_use("mine")


def as_used_by_the_dead(uses: Uses, key: str, age: float) -> None:
    """As if a process of an earlier boot had used it."""
    uses.forget(key)
    folder = uses._folder(key)
    folder.mkdir(parents=True)
    mark = folder / "node.boot.namespace.1.1"
    mark.touch()
    os.utime(mark, (time.time() - age, time.time() - age))


def test_layers_beyond_the_limit_go_the_longest_unused_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("envs_forge.sandbox.uses.FORGOTTEN_S", 0.0)
    cache = LayerCache(tmp_path, 10**9)
    shared = layer(("shared", b"s" * 100_000))
    for number in range(3):
        own = layer((f"own{number}", b"x" * 100_000))
        cache.ensure(f"sha256:{number}", lambda own=own: [saved_as_oci(shared, own)])  # type: ignore[misc]
    uses = Uses(tmp_path / "images/uses")
    as_used_by_the_dead(uses, "sha256-0.json", 10.0)
    as_used_by_the_dead(uses, "sha256-1.json", 20.0)
    assert trim(tmp_path, 10**9) == []
    assert [one.image for one in trim(tmp_path, 350_000, dry_run=True)] == ["sha256-1"]
    (dropped,) = trim(tmp_path, 350_000)
    assert dropped.bytes >= 100_000
    assert sorted(path.stem for path in (tmp_path / "images").glob("*.json")) == ["sha256-0", "sha256-2"]
    assert len(cache.ensure("sha256:0", lambda: pytest.fail("it is there"))) == 2
    as_used_by_the_dead(uses, "sha256-0.json", 10.0)
    trim(tmp_path, 0)
    assert [path.stem for path in (tmp_path / "images").glob("*.json")] == ["sha256-2"], "this process uses it"
    assert len([path for path in tmp_path.glob("sha256-*") if path.is_dir()]) == 2


def test_the_cache_keeps_its_limit_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("envs_forge.sandbox.uses.FORGOTTEN_S", 0.0)
    for number in range(4):
        own = layer((f"own{number}", b"x" * 100_000))
        LayerCache(tmp_path, 250_000).ensure(f"sha256:{number}", lambda own=own: [saved_as_oci(own)])  # type: ignore[misc]
        as_used_by_the_dead(Uses(tmp_path / "images/uses"), f"sha256-{number}.json", 100.0 - number)
    assert sorted(path.stem for path in (tmp_path / "images").glob("*.json")) == ["sha256-2", "sha256-3"]


@pytest.mark.engine
def test_built_images_beyond_a_size_go(place: Path, store: ImageStore, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = [StoredImage(f"sha256:{n}", (f"envs-forge/env:{n}",), n, 100, 50) for n in range(4)]
    removed: list[str] = []

    def remove(self: LocalImages, images: list[StoredImage]) -> int:
        removed.extend(image.id for image in images if image.id != "sha256:1")
        return sum(image.id != "sha256:1" for image in images)

    monkeypatch.setattr(LocalImages, "list_built", lambda self: stored)
    monkeypatch.setattr(LocalImages, "remove", remove)
    image_uses().note("envs-forge/env:0")
    found = [one.name for one in clean(images=60, dry_run=True).found if one.kind == "image"]
    assert found == ["envs-forge/env:1", "envs-forge/env:2", "envs-forge/env:3"]
    assert removed == []
    clean(images=120)
    assert removed == ["sha256:2", "sha256:3"], "0 is used by this process, 1 by a container"
    assert [image for image in clean().found if image.kind == "image"] == []


@pytest.mark.engine
def test_what_is_built_is_in_use_and_listed_with_its_own_size(place: Path) -> None:
    store = ImageStore()
    outcome = store.ensure(bundle("FROM debian:12.11-slim\nRUN head -c 1000000 /dev/urandom > /r\n"))
    tag = outcome.image.tag  # type: ignore[union-attr]
    (mine,) = (image for image in store.local.list_built() if tag in image.tags)
    try:
        assert image_uses().in_use(tag)
        assert 1_000_000 <= mine.own_size < mine.size
    finally:
        store.local.remove([mine])


def test_without_an_engine_the_rest_is_cleaned(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere.sock")
    left = place / "tmp" / "envs-forge-build-node.boot.namespace.1.1-x"
    left.mkdir()
    monkeypatch.setattr(cleaning, "dead_directories", lambda: [left])
    (problem,) = clean().problems
    assert problem.startswith("the docker engine was not cleaned: ")


@pytest.mark.parametrize(("text", "size"), [("20G", 20 * 2**30), ("1.5 MiB", 3 * 2**19), ("7", 7), ("2kb", 2048)])
def test_sizes(text: str, size: int) -> None:
    assert bytes_of(text) == size


def test_sizes_for_people_and_what_is_none() -> None:
    assert [human(size) for size in (0, 2048, 3 * 2**30)] == ["0 bytes", "2.0 KB", "3.0 GB"]
    with pytest.raises(UserError, match="no size"):
        bytes_of("much")
