"""`scripts/engine.sh` with a second, private dockerd: own directory, own socket, and its own network namespace.

Without the namespace it would take the bridge away from the engine that this machine runs.
"""

from __future__ import annotations

import os
import platform
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.conftest import run_script

ROOT = Path(__file__).resolve().parents[2]
ENGINE = ROOT / "scripts/engine.sh"
CAN_START = platform.system() == "Linux" and os.geteuid() == 0 and shutil.which("dockerd") is not None


@pytest.fixture
def private(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment of an engine of this test's own; stopped at the end whatever happens."""
    directory = tmp_path_factory.mktemp("e")
    env = {
        "ENVS_FORGE_ENGINE_DIR": str(directory / "engine"),
        "ENVS_FORGE_ENGINE_SOCKET": str(directory / "d.sock"),
        "DOCKER_HOST": f"unix://{directory / 'd.sock'}",
        "XDG_CACHE_HOME": str(directory / "cache"),
    }
    yield env
    run_script(ENGINE, "stop", env=env)


@pytest.mark.skipif(not CAN_START, reason="starting a dockerd needs Linux, root and dockerd")
@pytest.mark.engine
def test_starts_once_and_stops_without_a_trace(private):
    directory = Path(private["ENVS_FORGE_ENGINE_DIR"])
    first = _start(private)
    assert first.returncode == 0, first.stderr
    pid = (directory / "docker.pid").read_text()
    assert run_script(ENGINE, "status", env=private).stdout == "ours\n"
    assert run_script("docker", "version", env=private).returncode == 0

    again = _start(private)
    assert (again.returncode, again.stderr) == (0, "")
    assert (directory / "docker.pid").read_text() == pid

    assert run_script(ENGINE, "stop", env=private).returncode == 0
    assert run_script(ENGINE, "status", env=private).stdout == "none\n"
    assert not Path(private["ENVS_FORGE_ENGINE_SOCKET"]).exists()
    assert str(directory) not in Path("/proc/self/mountinfo").read_text()
    assert _processes_under(directory) == []


@pytest.mark.skipif(not CAN_START, reason="starting a dockerd needs Linux, root and dockerd")
@pytest.mark.engine
def test_comes_up_again_after_its_process_was_killed(private):
    assert _start(private).returncode == 0
    directory = Path(private["ENVS_FORGE_ENGINE_DIR"])
    for pid in _processes_under(directory):
        os.kill(pid, signal.SIGKILL)
    again = _start(private)
    assert again.returncode == 0, again.stderr
    assert run_script(ENGINE, "status", env=private).stdout == "ours\n"
    run_script(ENGINE, "stop", env=private)
    assert str(directory) not in Path("/proc/self/mountinfo").read_text()


@pytest.mark.skipif(not CAN_START, reason="starting a dockerd needs Linux, root and dockerd")
def test_a_dockerd_that_does_not_come_up_is_reported_with_its_last_words(private):
    failed = run_script("unshare", "--net", ENGINE, "start", env={**private, "ENVS_FORGE_DOCKERD_FLAGS": "--nonsense"})
    assert failed.returncode == 2
    assert "unknown flag: --nonsense" in failed.stderr
    assert "fix: " in failed.stderr


@pytest.mark.skipif(platform.system() != "Linux", reason="needs /proc")
def test_stop_spares_a_process_that_got_the_pid_of_a_dead_engine(private):
    directory = Path(private["ENVS_FORGE_ENGINE_DIR"])
    directory.mkdir(parents=True)
    with subprocess.Popen(["sleep", "60"]) as bystander:
        (directory / "docker.pid").write_text(f"{bystander.pid}\n")
        stopped = run_script(ENGINE, "stop", env=private)
        assert stopped.returncode == 0
        assert bystander.poll() is None
        bystander.kill()


def test_an_engine_that_the_user_points_to_is_not_replaced(private):
    done = run_script(ENGINE, "start", env={**private, "DOCKER_HOST": "unix:///nowhere/docker.sock"})
    assert done.returncode == 2
    error, fix = done.stderr.splitlines()
    assert "DOCKER_HOST" in error
    assert "unset DOCKER_HOST" in fix


def test_an_unknown_command_is_refused(private):
    assert run_script(ENGINE, "restart", env=private).returncode == 2


def _start(env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return run_script("unshare", "--net", ENGINE, "start", env=env)


def _processes_under(directory: Path) -> list[int]:
    """Processes whose command line names `directory`."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if str(directory).encode() in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found
