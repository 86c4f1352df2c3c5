"""What was read is what is written, whatever the names, modes and links."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings

from envs_forge.bundle import (
    Bundle,
    BundleError,
    BundleFile,
    content_hash,
    read_bundle,
    write_bundle,
)
from envs_forge.errors import DiskFullError, UserError

from .samples import on_disk, sample
from .strategies import bundles


@given(bundles())
@settings(max_examples=60)
def test_read_gives_what_write_was_given(bundle: Bundle) -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = write_bundle(bundle, directory)
        again = read_bundle(path)
        assert again == bundle
        assert content_hash(again) == content_hash(bundle)
        assert os.listdir(directory) == [bundle.id]  # noqa: PTH208


def test_modes_and_links_reach_the_disk(tmp_path: Path) -> None:
    changes = {
        "tests/run me": BundleFile(data=b"x", mode=0o750),
        "environment/current": BundleFile(target="./Dockerfile", mode=0o777),
    }
    path = write_bundle(sample(changes), tmp_path / "new" / "deep")
    assert stat.S_IMODE((path / "tests/run me").stat().st_mode) == 0o750
    assert os.readlink(path / "environment/current") == "./Dockerfile"  # noqa: PTH115


def test_a_umask_does_not_change_modes(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        path = write_bundle(sample(), tmp_path)
    finally:
        os.umask(before)
    assert read_bundle(path) == sample()


def test_an_existing_directory_is_not_overwritten_unless_asked(tmp_path: Path) -> None:
    first = write_bundle(sample({"old.txt": "1"}), tmp_path)
    with pytest.raises(UserError, match="exists already"):
        write_bundle(sample(), tmp_path)
    assert (first / "old.txt").exists()
    write_bundle(sample(), tmp_path, replace=True)
    assert read_bundle(first) == sample()
    assert [p.name for p in tmp_path.iterdir()] == ["sample"]


def test_a_file_or_link_in_the_place_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "sample").symlink_to("elsewhere")
    with pytest.raises(UserError, match="exists already"):
        write_bundle(sample(), tmp_path, replace=True)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fchmod", full)
    with pytest.raises(DiskFullError):
        write_bundle(sample(), tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", ".hidden", "x" * 256, "nul\0"])
def test_an_id_that_is_no_directory_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match="bundle id"):
        write_bundle(sample().model_copy(update={"id": name}), tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", ["../x", "/etc/x", "a/../../x", "a//b", "", "tests/test.sh/x", "bad\udcff"])
def test_a_path_that_leaves_the_bundle_is_never_written(tmp_path: Path, path: str) -> None:
    bundle = sample()
    bundle = bundle.model_copy(update={"files": {**bundle.files, path: BundleFile(data=b"x")}})
    with pytest.raises(BundleError):
        write_bundle(bundle, tmp_path / "out")
    assert not (tmp_path / "x").exists()


def test_a_file_is_not_written_through_a_link(tmp_path: Path) -> None:
    """A link to a directory and a file below its name cannot both be."""
    bundle = sample()
    files = {**bundle.files, "d": BundleFile(target="tests", mode=0o777), "d/f": BundleFile(data=b"x")}
    with pytest.raises(BundleError):
        write_bundle(bundle.model_copy(update={"files": files}), tmp_path)


def test_reading_needs_a_directory(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such directory"):
        read_bundle(tmp_path / "nowhere")
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="not a directory"):
        read_bundle(tmp_path / "file")


def test_the_instruction_is_what_the_agent_is_told(tmp_path: Path) -> None:
    text = b"\xef\xbb\xbf<!-- some CANARY string -->\r\n# canary\r\n\r\n# Title\r\nDo it.\r\n"
    bundle = read_bundle(on_disk(tmp_path, {"instruction.md": text}))
    assert bundle.instruction == "# Title\nDo it.\n"
    assert bundle.files["instruction.md"].data == text
