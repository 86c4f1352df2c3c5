"""Access to hostile trees, on plain directories."""

import os
from pathlib import Path

import pytest

from envs_forge.sandbox.oci.rootfs import DIRECTORY, LISTABLE, Root, open_beneath, remove_tree


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "secret").write_text("host")
    inside = tmp_path / "root"
    (inside / "etc").mkdir(parents=True)
    (inside / "etc/passwd").write_text("inside")
    return inside


@pytest.mark.parametrize("link", ["/etc", "../../../../etc", "../etc", "/../etc"])
def test_links_start_and_end_at_the_root(tree: Path, link: str) -> None:
    (tree / "door").symlink_to(link)
    with Root(tree) as root:
        assert root.read("/door/passwd", 100) == b"inside"


def test_a_link_to_a_process_leads_nowhere(tree: Path) -> None:
    (tree / "etc/self").symlink_to("/proc/self/root/secret")
    with Root(tree) as root:
        assert root.read("/etc/self", 100) == b""


def test_only_regular_files_are_read(tree: Path) -> None:
    os.mkfifo(tree / "etc/group")
    with Root(tree) as root:
        assert root.read("/etc/group", 100) == b""
        assert root.read("/etc", 100) == b""


@pytest.mark.parametrize("obstacle", ["file", "link to nowhere", "link to itself", "fifo", "nothing"])
def test_a_directory_is_made_whatever_is_in_its_way(tree: Path, obstacle: str) -> None:
    place = tree / "tests"
    if obstacle == "file":
        place.write_text("x")
    elif obstacle == "link to nowhere":
        place.symlink_to("/nowhere/at/all")
    elif obstacle == "link to itself":
        place.symlink_to("tests")
    elif obstacle == "fifo":
        os.mkfifo(place)
    with Root(tree) as root:
        os.close(root.directory("/tests/unit"))
    assert (place / "unit").is_dir()
    assert not place.is_symlink()


def test_a_tree_of_any_depth_is_opened_and_removed(tmp_path: Path) -> None:
    depth = 1100  # more than Python's recursion limit, and than a path may be long
    top = os.open(tmp_path, DIRECTORY)
    here = os.dup(top)
    for _ in range(depth):
        os.mkdir("deep", dir_fd=here)
        os.close(os.open("file", os.O_CREAT, 0o600, dir_fd=here))
        below = os.open("deep", DIRECTORY, dir_fd=here)
        os.close(here)
        here = below
    reached = open_beneath(top, ["deep"] * depth, DIRECTORY)
    assert os.path.sameopenfile(reached, here)
    for descriptor in (here, reached, top):
        os.close(descriptor)
    above = os.open(tmp_path, LISTABLE)
    remove_tree(above, "deep")
    os.close(above)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_links_are_refused_on_the_way_down(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    top = os.open(tmp_path, DIRECTORY)
    with pytest.raises(OSError, match="symbolic links"):
        open_beneath(top, ["link"], DIRECTORY)
    os.close(top)


def test_removing_does_not_follow_links(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept/file").write_text("x")
    (tmp_path / "gone/sub").mkdir(parents=True)
    (tmp_path / "gone/sub/link").symlink_to(tmp_path / "kept")
    above = os.open(tmp_path, LISTABLE)
    remove_tree(above, "gone")
    os.close(above)
    assert (tmp_path / "kept/file").exists()
    assert not (tmp_path / "gone").exists()
