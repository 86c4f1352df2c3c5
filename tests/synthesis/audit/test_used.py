"""A file counts as unused only where nothing can use it."""

import pytest

from envs_forge.bundle.model import Part
from envs_forge.synthesis.audit.parts import files_of, meaning_of
from envs_forge.synthesis.audit.used import used_files

from ..scripted.faults import text, with_files
from .children import seed

SEED = seed(3)


def is_used(path, files):
    bundle = with_files(SEED, {path: "content\n", **files})
    part = {"solution": Part.SOLUTION, "tests": Part.TESTS, "environment": Part.DATA}[path.split("/")[0]]
    return path in used_files(bundle, part, files_of(bundle, part))


@pytest.mark.parametrize(
    ("path", "script"),
    [
        ("solution/helper.py", "python3 -c 'import helper'\n"),
        ("solution/rows/a.sql", "sqlite3 /app/x.db < /solution/rows/a.sql\n"),
        ("solution/case12.txt", "sort /solution/case$number.txt\n"),
        ("solution/12.txt", "sort $n.txt\n"),
        ("solution/other.sql", 'for f in /solution/*.sql; do sqlite3 x < "$f"; done\n'),
        ("solution/other.sql", "cat /solution/* > /app/all\n"),
        ("solution/other.sql", "cp -r /solution /app/\n"),
        ("solution/other.sql", "python3 -c 'import os; os.listdir(\"/solution\")'\n"),
    ],
)
def test_a_file_that_a_script_may_find_is_used(path, script):
    assert is_used(path, {"solution/solve.sh": f"#!/bin/sh\n{script}"})


def test_files_are_used_by_files_that_are_used():
    files = {"solution/solve.sh": ". /solution/first.sh\n", "solution/first.sh": "sort /solution/second.txt\n"}
    assert is_used("solution/second.txt", files)
    assert not is_used("solution/second.txt", {**files, "solution/solve.sh": "sort a\n"})


def test_the_tests_may_begin_with_an_image_of_their_own():
    files = {"tests/test.sh": "true\n", "tests/Dockerfile": "FROM debian:12\nCOPY . /tests\n"}
    assert is_used("tests/notes.txt", files)
    assert not is_used("tests/notes.txt", {"tests/test.sh": "sort a\n"})


@pytest.mark.parametrize(
    ("line", "used"),
    [
        ("COPY data/ /app/", True),
        ("COPY . /app/", True),
        ("COPY data/notes.txt /app/", True),
        ("COPY dat* /app/", True),
        ("RUN --mount=type=bind,target=/x cp /x/data/notes.txt /app/", True),
        ("COPY data/build/ /app/", False),
        ("COPY --from=other /x /app/", False),
        ("RUN mkdir /app", False),
    ],
)
def test_data_is_used_when_the_image_takes_it(line, used):
    assert is_used("environment/data/notes.txt", {"environment/Dockerfile": f"FROM debian:12\n{line}\n"}) is used


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("solution/.keep", ""),
        ("tests/.keep", "\n"),
        ("environment/data/.keep", ""),
        ("environment/aside/words.txt", "some words\n"),
        ("solution/words.txt", "some\n"),
    ],
)
def test_an_empty_or_unused_file_changes_no_part(path, content):
    part = {"s": Part.SOLUTION, "t": Part.TESTS, "e": Part.DATA}[path[0]]
    assert meaning_of(with_files(SEED, {path: content}), part) == meaning_of(SEED, part)


def test_a_bundle_without_its_entries_uses_everything():
    files = {path: file for path, file in SEED.files.items() if path != "tests/test.sh"}
    bundle = with_files(SEED.model_copy(update={"files": files}), {"tests/words.txt": text(SEED, "task.toml")})
    assert "tests/words.txt" in used_files(bundle, Part.TESTS, files_of(bundle, Part.TESTS))
