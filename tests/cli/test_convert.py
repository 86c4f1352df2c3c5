"""`convert`: Terminal-Bench directories on disk become Harbor ones, or one line says why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from bundle.formats.test_terminal_bench import COMPOSE, task
from envs_forge.bundle import content_hash, read_bundle
from run.test_seeds import task as harbor_task

from .conftest import Forge


def pool(here: Path) -> None:
    task(here / "in").rename(here / "in/good")
    several = COMPOSE + "  db:\n    image: a\n    ipc: host\n"
    task(here / "in", {"docker-compose.yaml": several}).rename(here / "in/many")
    task(here / "in", {"task.yaml": "difficulty: easy\n"}).rename(here / "in/silent")
    harbor_task(here / "in", "already")


def test_each_task_gets_its_line(forge: Forge, here: Path) -> None:
    pool(here)
    said = forge("convert", "-p", "in", "-o", "out")
    assert (said.code, said.err) == (1, "")
    assert said.out.splitlines() == [
        "already: harbor already",
        "good: converted",
        "many: converted, unsupported here: needs containers that are not given what they ask for: db asks for ipc "
        "[compose-refused]",
        "silent: failed: task.yaml: error yaml-schema: there is no instruction (correct task.yaml)",
        "4 tasks: 2 converted, 1 harbor already, 1 failed, in out",
    ]
    assert sorted(path.name for path in (here / "out").iterdir()) == ["good", "many"]
    assert content_hash(read_bundle(here / "out/good")) == content_hash(read_bundle(here / "in/good"))


def test_as_json(forge: Forge, here: Path) -> None:
    pool(here)
    said = forge("convert", "-p", "in", "-o", "out", "--json", "-i", "good", "-i", "many")
    assert said.code == 0
    assert (said.json["tasks"], said.json["converted"], said.json["failed"]) == (2, 2, 0)
    good, many = said.json["reports"]
    assert good["content_hash"] == content_hash(read_bundle(here / "out/good"))
    assert [finding["code"] for finding in many["unsupported"]] == ["compose-refused"]


def test_nothing_is_overwritten_and_then_nothing_is_written(forge: Forge, here: Path) -> None:
    pool(here)
    (here / "out/many").mkdir(parents=True)
    said = forge("convert", "-p", "in", "-o", "out")
    assert (said.code, said.out) == (2, "")
    assert said.err == "Error: out/many exists already (choose another directory with -o)\n"
    assert [path.name for path in (here / "out").iterdir()] == ["many"]


def test_a_dry_run_writes_nothing(forge: Forge, here: Path) -> None:
    pool(here)
    said = forge("convert", "-p", "in", "-o", "out", "--dry-run", "-i", "good")
    assert said.out.splitlines() == ["good: converted", "1 tasks: 1 converted (nothing was written)"]
    assert not (here / "out").exists()


@pytest.mark.parametrize(
    ("args", "line"),
    [
        (("-p", "in", "-p", "twin", "-o", "out"), "several tasks are called good (convert them one by one)"),
        (("-p", "in", "-o", "file"), "file is not a directory (choose another one with -o)"),
        (("-p", "nowhere", "-o", "out"), "nowhere: no such directory (check the path)"),
    ],
)
def test_mistakes_are_one_line(forge: Forge, here: Path, args: tuple[str, ...], line: str) -> None:
    pool(here)
    task(here / "twin").rename(here / "twin/good")
    (here / "file").touch()
    said = forge("convert", *args)
    assert (said.code, said.out, said.err) == (2, "", f"Error: {line}\n")
    assert not (here / "out").exists()
