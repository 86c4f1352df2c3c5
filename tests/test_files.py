from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

import pytest

from envs_forge import files
from envs_forge.errors import DiskFullError


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def fill_half(target: Path) -> None:
    with files.new_directory(target) as inside:
        (inside / "half").write_text("x")
        assert not target.exists()
        raise RuntimeError


def test_a_file_is_written_with_its_mode_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "run.sh"
    files.write_text(target, "echo\n", mode=0o755)
    assert target.read_text() == "echo\n"
    assert target.stat().st_mode & 0o777 == 0o755
    assert names(target.parent) == ["run.sh"]


def test_a_failed_write_keeps_the_old_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "a.json"
    files.write_json(target, {"old": 1})

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DiskFullError, match=r"no space left on the disk of .*a\.json"):
        files.write_json(target, {"new": 2})
    assert target.read_text() == '{\n  "old": 1\n}\n'
    assert names(tmp_path) == ["a.json"]


def test_readers_never_see_half_a_file(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    contents = {"a" * 200_000, "b" * 200_000}
    files.write_text(target, "a" * 200_000)
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            for content in contents:
                files.write_text(target, content)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert all(target.read_text() in contents for _ in range(200))
    finally:
        stop.set()
        writer.join()


def test_a_directory_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "out"
    with pytest.raises(RuntimeError):
        fill_half(target)
    assert names(tmp_path) == []
    with files.new_directory(target) as inside:
        (inside / "whole").write_text("x")
        (inside / "link").symlink_to("nowhere")
    assert names(target) == ["link", "whole"]
    assert names(tmp_path) == ["out"]


def test_a_directory_gives_way_only_when_told_to(tmp_path: Path) -> None:
    target = tmp_path / "out"
    with files.new_directory(target) as inside:
        (inside / "old").touch()
    with pytest.raises(FileExistsError), files.new_directory(target):
        pass
    with files.new_directory(target, replace=True) as inside:
        (inside / "new").touch()
    assert names(target) == ["new"]
    assert names(tmp_path) == ["out"]
