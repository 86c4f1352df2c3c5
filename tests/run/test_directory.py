from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from envs_forge.errors import UserError
from envs_forge.run.directory import RunDirectory, find_run, new_run


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_new_run_is_dated_and_latest_points_to_it(here: Path) -> None:
    first, second = new_run(), new_run()
    assert first.root != second.root
    assert first.root.parent == here / "runs"
    assert (here / "runs" / "latest").readlink() == Path(second.root.name)
    second.config.write_text("{}")
    assert find_run("latest").root == second.root.resolve()
    assert find_run(second.root.name).root == find_run(f"runs/{second.root.name}").root


def test_a_place_that_is_taken_is_refused(here: Path) -> None:
    run = new_run(here / "mine")
    assert not (here / "runs").exists()
    assert new_run(here / "mine").root == run.root
    run.config.write_text("{}")
    with pytest.raises(UserError, match=r"holds a run already.*resume"):
        new_run(here / "mine")
    (here / "other").mkdir()
    (here / "other" / "file").touch()
    with pytest.raises(UserError, match="is not empty"):
        new_run(here / "other")
    with pytest.raises(UserError, match="cannot make the run directory"):
        new_run(here / "other" / "file" / "below")


@pytest.mark.parametrize("name", ["nothing", "."])
def test_what_is_no_run_is_one_line(name: str) -> None:
    with pytest.raises(UserError, match=r"no run 'nothing'|\. is not a run directory"):
        find_run(name)


def holder(root: Path) -> subprocess.Popen[str]:
    """Another process that holds a run directory and waits to be killed."""
    code = (
        "import sys, time; from pathlib import Path; from envs_forge.run.directory import RunDirectory\n"
        "with RunDirectory(Path(sys.argv[1])).hold(): print('held', flush=True); time.sleep(60)"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(root)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_a_place_that_was_given_up_before_its_run_began_is_free(here: Path) -> None:
    run = new_run(here / "mine")
    with run.hold():
        run.log.touch()
    assert new_run(here / "mine").root == run.root


def test_one_process_holds_a_run_and_its_hold_dies_with_it(here: Path) -> None:
    run = new_run(here / "mine")
    other = holder(run.root)
    try:
        assert run.in_use()
        with pytest.raises(UserError, match=f"mine is in use by process {other.pid}"), run.hold():
            pass
        with pytest.raises(UserError, match="is in use by another process"):
            new_run(here / "mine")
    finally:
        os.kill(other.pid, signal.SIGKILL)
        other.communicate()
    assert not run.in_use()
    with run.hold():
        assert run.in_use()
    assert not run.in_use()


def test_nobody_uses_what_is_not_there(here: Path) -> None:
    assert not RunDirectory(here / "nothing").in_use()
