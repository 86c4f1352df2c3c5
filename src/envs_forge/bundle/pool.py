"""Which directories under the given paths are bundles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from envs_forge.errors import UserError

MARKS = ("task.toml", "instruction.md", "task.yaml", "tests/test.sh")
"""A directory with any of these is meant as a task; if one is missing, the check says so."""


def find_bundles(paths: Iterable[str | Path]) -> list[Path]:
    """The task directories that `paths` name.

    Args:
        paths: Each a task directory, a directory of task directories, or one whose `tasks` folder holds them.
            Hidden directories are skipped.

    Returns:
        The directories, those of one path in the order of their names, each once.

    Raises:
        UserError: A path does not exist or holds no task; nothing was given.
    """
    found: dict[Path, Path] = {}
    for path in paths:
        tasks = list(_tasks_of(Path(path)))
        if not tasks:
            raise UserError(
                f"{path}: no tasks here", fix="give a directory with task.toml, or a directory of such ones"
            )
        for task in tasks:
            found.setdefault(task.resolve(), task)
    if not found:
        raise UserError("no task directory was given", fix="name one with -p")
    return list(found.values())


def _tasks_of(path: Path) -> Iterator[Path]:
    if not path.exists():
        raise UserError(f"{path}: no such directory", fix="check the path")
    if not path.is_dir():
        raise UserError(f"{path}: not a directory", fix="give the directory of the task")
    try:
        if _is_task(path):
            yield path
            return
        children = _children(path)
        if not children and (path / "tasks").is_dir():
            children = _children(path / "tasks")
    except PermissionError as error:
        raise UserError(f"{error.filename}: permission denied", fix="check owner and permissions") from error
    yield from children


def _children(path: Path) -> list[Path]:
    return sorted(c for c in path.iterdir() if not c.name.startswith(".") and c.is_dir() and _is_task(c))


def _is_task(path: Path) -> bool:
    return any((path / mark).is_file() for mark in MARKS)
