"""Whatever a user gets wrong is one clear line on stderr, exit 2, and leaves nothing behind."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from envs_forge.errors import DiskFullError
from pipeline.fakes import World
from run.test_directory import holder
from run.test_seeds import task

from .conftest import Forge, Said


def one_line(said: Said, *words: str) -> None:
    assert said.code == 2
    assert said.out == ""
    assert said.err.count("\n") == 1, said.err
    assert said.err.startswith("Error: ")
    for word in words:
        assert word in said.err


COMMANDS = ("lint", "verify", "measure", "run")


@pytest.mark.parametrize("command", COMMANDS)
def test_no_such_directory(forge: Forge, here: Path, command: str) -> None:
    one_line(forge(command, "-p", "nothing"), "nothing: no such directory")
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("command", COMMANDS)
def test_an_empty_pool(forge: Forge, here: Path, command: str) -> None:
    (here / "pool").mkdir()
    one_line(forge(command, "-p", "pool"), "pool: no tasks here")
    assert [path.name for path in here.iterdir()] == ["pool"]


@pytest.mark.parametrize("command", ["measure", "run"])
def test_a_task_without_tests(forge: Forge, here: Path, command: str) -> None:
    task(here / "pool", "toothless", tests=False)
    one_line(forge(command, "-p", "pool"), "toothless", "no tests/test.sh", "tests-missing")
    assert [path.name for path in here.iterdir()] == ["pool"]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_limit_of_zero(forge: Forge, here: Path, command: str) -> None:
    task(here / "pool", "good")
    one_line(forge(command, "-p", "pool", "-l", "0"), "limit", "at least 1" if command == "lint" else "equal to 1")


def test_a_task_with_broken_toml(forge: Forge, here: Path) -> None:
    task(here / "pool", "broken", toml='name = "x')
    one_line(forge("run", "-p", "pool"), "broken: task.toml:1", "toml-syntax")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("size = 20", ["run.toml", "unknown key 'size'", "did you mean 'plan.size'"]),
        ("rollouts = 0", ["run.toml", "rollouts", "greater than or equal to 1"]),
        ("rollouts =", ["run.toml is not valid TOML"]),
    ],
)
def test_a_config_that_is_wrong(forge: Forge, here: Path, text: str, words: list[str]) -> None:
    (here / "run.toml").write_text(text)
    one_line(forge("run", "-p", "pool", "-c", "run.toml"), *words)


def test_a_zero_is_not_taken_for_nothing_given(forge: Forge, world: World) -> None:
    one_line(forge("run", "-p", "pool", "-k", "0"), "rollouts", "greater than or equal to 1")
    one_line(forge("run", "-p", "pool", "-N", "0", "--dry-run"), "plan", "at least 1")


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["rnu"], ["no command 'rnu', did you mean 'run'?"]),
        (["run", "--polcy", "x"], ["No such option", "--policy"]),
        (["run", "-n", "many"], ["'many' is not a valid integer"]),
        (["run", "--recipe", "best"], ["'best' is not one of", "forge"]),
        (["run", "-p", "pool", "--policy", "genius"], ["no policy 'genius'"]),
        (["run", "-p", "pool", "--generator", "genius"], ["no generator 'genius'"]),
        (["run", "-p", "pool", "--policy", "nop", "-m", "big"], ["the policy nop has no model", "leave out -m"]),
        (["verify", "-p", "pool", "--stages", "oracel"], ["no stage 'oracel'"]),
        (["plan"], ["--pass-rates"]),
        (["plan", "--pass-rates", "none.json"], ["cannot read none.json"]),
        (["resume", "runs/none"], ["no run 'runs/none'"]),
        (["status"], ["no run 'latest'"]),
        (["export", "pool"], ["pool is not a run directory"]),
    ],
)
def test_a_command_line_that_is_wrong(forge: Forge, here: Path, args: list[str], words: list[str]) -> None:
    task(here / "pool", "good")
    one_line(forge(*args), *words)
    assert [path.name for path in here.iterdir()] == ["pool"]


def test_no_engine(forge: Forge, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    task(here / "pool", "good")
    for command in ("measure", "verify"):
        one_line(forge(command, "-p", "pool", "--engine", "docker"), "Docker engine")
    assert [path.name for path in here.iterdir()] == ["pool"]


def test_a_run_directory_in_use(forge: Forge, here: Path, world: World) -> None:
    assert forge("run", "-p", "pool", "-N", "2", "-o", "mine", "-q").code == 0
    other = holder(here / "mine")
    try:
        before = (here / "mine" / "result.json").read_bytes()
        for args in (["resume", "mine"], ["export", "mine"], ["run", "-p", "pool", "-o", "mine"]):
            one_line(forge(*args), "mine is in use by")
        assert (here / "mine" / "result.json").read_bytes() == before
        assert forge("status", "mine", "--json").json["in_use"] is True
    finally:
        other.kill()
        other.communicate()


def test_a_run_that_is_there_already(forge: Forge, world: World) -> None:
    assert forge("run", "-p", "pool", "-N", "2", "-o", "mine", "-q").code == 0
    one_line(forge("run", "-p", "pool", "-N", "2", "-o", "mine"), "mine holds a run already", "resume mine")


def test_a_changed_config_on_resume(forge: Forge, here: Path, world: World) -> None:
    assert forge("run", "-p", "pool", "-N", "2", "-o", "mine", "-q").code == 0
    (here / "run.toml").write_text("draws = 9\n[plan]\nsize = 3\n")
    one_line(forge("resume", "mine", "-c", "run.toml"), "differs in: draws, plan.size")
    stored = json.loads((here / "mine" / "config.json").read_text())
    (here / "mine" / "config.json").write_text(json.dumps({**stored, "rollouts": 9}))
    one_line(forge("resume", "mine"), "not as it was when it began: rollouts")


def test_pass_rates_that_make_no_sense(forge: Forge, here: Path) -> None:
    (here / "rates.json").write_text('[{"id": "a", "k": 5, "n": 4}, {"id": "b", "k": 1, "n": 0}]')
    one_line(forge("plan", "--pass-rates", "rates.json"), "rates.json", "row 1", "row 2")
    (here / "rates.json").write_text("{")
    one_line(forge("plan", "--pass-rates", "rates.json"), "is not JSON")


def test_a_full_disk_and_then_room_again(forge: Forge, here: Path, world: World) -> None:
    def full(kind: str) -> None:
        if kind == "verify":
            raise DiskFullError("no space left on the disk of mine/candidates")

    world.after = full
    said = forge("run", "-p", "pool", "-N", "4", "-o", "mine", "-q")
    one_line(said, "no space left on the disk", "free some space", "envs-forge resume mine")
    world.after = lambda kind: None
    said = forge("resume", "mine", "--json", "-q")
    assert (said.code, said.json["accepted"], said.json["exported"]) == (0, 4, 4)


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("mount") is None, reason="mounting a small disk needs root")
def test_a_disk_that_is_really_full(forge: Forge, here: Path, world: World) -> None:
    small = here / "small"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(small)], check=False)
    if mounted.returncode:
        pytest.skip("this machine refuses to mount a tmpfs")
    try:
        (small / "ballast").write_bytes(b"x" * (700 << 10))
        said = forge("run", "-p", "pool", "-N", "4", "-o", "small/run", "-q")
        one_line(said, "no space left on the disk", "free some space")
        (small / "ballast").unlink()
        subprocess.run(["mount", "-o", "remount,size=64m", str(small)], check=True)
        said = forge("resume", "small/run", "--json", "-q")
        assert (said.code, said.json["accepted"], said.json["exported"]) == (0, 4, 4)
    finally:
        subprocess.run(["umount", "-l", str(small)], check=True)
