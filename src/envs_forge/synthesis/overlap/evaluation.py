"""Evaluation sets as users have them: directories of tasks, or JSONL files with a record a task."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from envs_forge.bundle.pool import find_bundles
from envs_forge.bundle.reading import read_files
from envs_forge.errors import UserError
from envs_forge.synthesis.overlap.document import MOST, Document

INSTRUCTIONS = ("instruction", "prompt", "question", "problem_statement", "problem", "task", "description", "text")
SOLUTIONS = ("solution", "patch", "answer", "canonical_solution", "gold_patch", "completion")
TESTS = ("tests", "test", "test_patch", "test_list", "verifier", "checks")
NAMES = ("id", "task_id", "instance_id", "name")


def read_evaluation(paths: Iterable[str | Path]) -> list[Document]:
    """The tasks of evaluation sets.

    Args:
        paths: Each a task directory, a directory of such ones (see `find_bundles`), or a `.jsonl` file. Tasks need not
            be sound. A record's texts are found by their usual names; one that has no instruction by any of these
            names is taken as one text, all of its strings together.

    Raises:
        UserError: There is nothing there, or a line is no JSON object; names it.
    """
    found: list[Document] = []
    for path in map(Path, paths):
        if path.is_file():
            found += _records(path)
        else:
            found += [_task(directory) for directory in find_bundles([path])]
    return found


def _task(directory: Path) -> Document:
    files, _ = read_files(directory)
    texts = {
        path: file.data[:MOST].decode("utf-8-sig", "replace").replace("\r\n", "\n")
        for path, file in sorted(files.items())
        if file.target is None and b"\0" not in file.data[:8192]
    }
    folders = {
        name: "\n".join(t for path, t in texts.items() if path.startswith(name)) for name in ("solution/", "tests/")
    }
    steps = "\n".join(text for path, text in texts.items() if path.endswith("instruction.md"))
    return Document(directory.name, steps, folders["solution/"], folders["tests/"])


def _records(path: Path) -> Iterator[Document]:
    try:
        lines = path.read_text("utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read {path}: {error}", fix="give a UTF-8 text with one JSON object a line") from error
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield _record(line, f"{path.name}:{number}", path)


def _record(line: str, place: str, path: Path) -> Document:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path.parent / place}: {error}", fix="an evaluation set is one JSON object a line") from error
    if not isinstance(record, dict):
        raise UserError(f"{path.parent / place}: no JSON object", fix="an evaluation set is one JSON object a line")
    name = next((str(record[key]) for key in NAMES if isinstance(record.get(key), str | int)), place)
    instruction = _first(record, INSTRUCTIONS)
    if not instruction:
        return Document(name, "\n".join(_strings(record)))
    return Document(name, instruction, _first(record, SOLUTIONS), _first(record, TESTS))


def _first(record: Mapping[str, Any], keys: Iterable[str]) -> str:
    values = ("\n".join(_strings(record[key])) for key in keys if key in record)
    return next((value for value in values if value.strip()), "")


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
