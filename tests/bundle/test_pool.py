"""Tasks are found where people keep them; nothing found is one clear line."""

from __future__ import annotations

from pathlib import Path

import pytest

from envs_forge.bundle import find_bundles
from envs_forge.errors import UserError

from .samples import on_disk


def test_a_task_itself_a_folder_of_tasks_and_a_root(tmp_path: Path) -> None:
    tasks = [on_disk(tmp_path / "root/tasks", name=name) for name in ("b", "a")]
    assert find_bundles([tasks[0]]) == [tasks[0]]
    assert find_bundles([tmp_path / "root/tasks"]) == [tasks[1], tasks[0]]
    assert find_bundles([str(tmp_path / "root")]) == [tasks[1], tasks[0]]


def test_each_task_comes_once(tmp_path: Path) -> None:
    task = on_disk(tmp_path, name="a")
    (tmp_path / "again").symlink_to("a")
    assert find_bundles([task, tmp_path, tmp_path / "again"]) == [task]


def test_broken_tasks_are_found_and_other_directories_are_not(tmp_path: Path) -> None:
    broken = on_disk(tmp_path, {"task.toml": None}, name="broken")
    on_disk(tmp_path, name=".a.tmp")
    (tmp_path / "notes").mkdir()
    (tmp_path / "README.md").touch()
    assert find_bundles([tmp_path]) == [broken]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        ("missing", "no such directory"),
        ("file", "not a directory"),
        ("empty", "no tasks here"),
        ("tasks", "no tasks here"),
    ],
)
def test_nothing_found_is_the_users_mistake(tmp_path: Path, make: str, words: str) -> None:
    path = tmp_path / "x"
    if make == "file":
        path.touch()
    elif make != "missing":
        (path / make).mkdir(parents=True)
    with pytest.raises(UserError, match=words) as caught:
        find_bundles([path])
    assert caught.value.fix
    assert caught.value.exit_code == 2


def test_no_path_at_all() -> None:
    with pytest.raises(UserError, match="no task directory"):
        find_bundles([])
