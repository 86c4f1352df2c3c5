"""Fresh directories over whatever an image or an agent left at their place."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from envs_forge.errors import InvariantError
from envs_forge.sandbox.oci.overlay import mount_overlay, unmount_overlay
from envs_forge.sandbox.oci.upper import Upper, prepare

pytestmark = pytest.mark.engine


class Layers:
    """Directories that make a filesystem, on a disk that can be an upper layer."""

    def __init__(self, folder: Path) -> None:
        self.top, self.bottom, self.upper, self.work, self.merged = (
            folder / name for name in ("top", "bottom", "upper", "work", "merged")
        )
        for path in (self.top, self.bottom, self.upper, self.work, self.merged):
            path.mkdir()

    def mount(self) -> Path:
        mount_overlay([self.top, self.bottom], self.upper, self.work, self.merged)
        return self.merged


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Layers]:
    made = Layers(tmp_path)
    yield made
    assert unmount_overlay(made.merged)


def hinder(layers: Layers, kind: str) -> None:
    """Put something in the way of /logs/verifier."""
    top, bottom = layers.top, layers.bottom
    if kind == "full":
        (bottom / "logs/verifier").mkdir(parents=True)
        (bottom / "logs/verifier/reward.txt").write_text("1")
        (top / "logs/verifier").mkdir(parents=True)
        (top / "logs/verifier/more").write_text("1")
    elif kind == "read-only":
        (top / "logs/verifier").mkdir(parents=True)
        os.chown(top / "logs/verifier", 1234, 1234)
        (top / "logs/verifier").chmod(0o000)
    elif kind == "file":
        (top / "logs").mkdir()
        (top / "logs/verifier").write_text("1")
    elif kind == "link":
        (top / "logs").mkdir()
        (top / "logs/verifier").symlink_to("/tmp")
    elif kind == "link above":
        (bottom / "logs/verifier").mkdir(parents=True)
        (top / "logs").symlink_to("/tmp")
    elif kind == "whiteout":
        (bottom / "logs/verifier").mkdir(parents=True)
        (bottom / "logs/verifier/reward.txt").write_text("1")
        os.mknod(top / "logs", 0o020000, 0)
    elif kind == "fifo":
        (top / "logs").mkdir()
        os.mkfifo(top / "logs/verifier")


KINDS = ["nothing", "full", "read-only", "file", "link", "link above", "whiteout", "fifo"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_fresh_directory_is_roots_and_empty(stack: Layers, kind: str) -> None:
    hinder(stack, kind)
    Upper(stack.upper, [stack.top, stack.bottom]).fresh("/logs/verifier")
    fresh = stack.mount() / "logs/verifier"
    assert not fresh.is_symlink()
    assert list(fresh.iterdir()) == []
    about = fresh.stat()
    assert (about.st_uid, about.st_gid, about.st_mode & 0o7777) == (0, 0, 0o755)
    (fresh / "reward.txt").write_text("0")


def test_neighbours_and_parents_stay_as_they_are(stack: Layers) -> None:
    (stack.bottom / "logs/agent").mkdir(parents=True)
    (stack.bottom / "logs").chmod(0o1777)
    os.chown(stack.bottom / "logs", 12, 34)
    Upper(stack.upper, [stack.top, stack.bottom]).fresh("/logs/verifier")
    logs = stack.mount() / "logs"
    assert sorted(path.name for path in logs.iterdir()) == ["agent", "verifier"]
    about = logs.stat()
    assert (about.st_uid, about.st_gid, about.st_mode & 0o7777) == (12, 34, 0o1777)


def test_fresh_directories_may_lie_in_each_other(stack: Layers) -> None:
    (stack.bottom / "logs/verifier").mkdir(parents=True)
    (stack.bottom / "logs/verifier/old").touch()
    layer = Upper(stack.upper, [stack.top, stack.bottom])
    layer.fresh("/logs")
    layer.fresh("/logs/verifier")
    merged = stack.mount()
    assert [str(path.relative_to(merged)) for path in merged.rglob("*")] == ["logs", "logs/verifier"]


@pytest.mark.parametrize("path", ["/", "relative", "/a/../b", ""])
def test_a_path_that_cannot_be_one_is_our_own_mistake(stack: Layers, path: str) -> None:
    with pytest.raises(InvariantError):
        Upper(stack.upper, [stack.top, stack.bottom]).fresh(path)
    stack.mount()


def test_hosts_are_written_for_an_image_and_kept_for_a_snapshot(stack: Layers) -> None:
    (stack.bottom / "etc").mkdir()
    (stack.bottom / "etc/hosts").write_text("10.0.0.1 agents-own\n")
    prepare(stack.upper, [stack.top, stack.bottom], [], None)
    assert not (stack.upper / "etc").exists()
    prepare(stack.upper, [stack.top, stack.bottom], [], "forge")
    assert "127.0.0.1\tforge" in (stack.mount() / "etc/hosts").read_text()


def test_more_layers_than_a_page_of_options_holds(tmp_path: Path) -> None:
    stack = Layers(tmp_path)
    lowers = [tmp_path / f"{'long' * 20}-{number}" for number in range(100)]
    for number, lower in enumerate(lowers):
        lower.mkdir()
        (lower / str(number)).touch()
    mount_overlay(lowers, stack.upper, stack.work, stack.merged)
    assert len(list(stack.merged.iterdir())) == 100
    assert unmount_overlay(stack.merged)
