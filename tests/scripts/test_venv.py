"""`scripts/venv.sh` on a tiny project that needs no network: a package without dependencies, built by itself."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from waiting import eventually

BACKEND = """
import zipfile

def build_editable(directory, config_settings=None, metadata_directory=None):
    name = "envs_forge-0.0.1-py3-none-any.whl"
    info = "envs_forge-0.0.1.dist-info"
    with zipfile.ZipFile(f"{directory}/{name}", "w") as wheel:
        wheel.writestr("envs_forge_tiny.py", "ANSWER = 42\\n")
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\\nName: envs-forge\\nVersion: 0.0.1\\nProvides-Extra: dev\\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(f"{info}/RECORD", "")
    return name
"""  # noqa: E501
PROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "envs-forge"
version = "0.0.1"
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with the real scripts and the tiny package; its tests follow each other's states."""
    directory = tmp_path_factory.mktemp("checkout")
    root = Path(__file__).resolve().parents[2]
    shutil.copytree(root / "scripts", directory / "scripts")
    (directory / "backend.py").write_text(BACKEND)
    (directory / "pyproject.toml").write_text(PROJECT)
    (directory / "constraints.txt").write_text("# none\nidna==3.10\n")
    (directory / "src/envs_forge").mkdir(parents=True)
    return directory


def _env(project: Path) -> dict[str, str]:
    return {**os.environ, "XDG_CACHE_HOME": str(project / "cache"), "PIP_NO_INDEX": "1"}


def _start(project: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [project / "scripts/venv.sh"], env=_env(project), stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def _finish(process: subprocess.Popen[str]) -> str:
    _, stderr = process.communicate(timeout=240)
    assert process.returncode == 0, stderr
    return stderr


def _works(project: Path) -> bool:
    command = [project / ".venv/bin/python", "-c", "import envs_forge_tiny; print(envs_forge_tiny.ANSWER)"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout == "42\n"


def test_killed_halfway_then_two_at_once_make_one_good_environment(project):
    killed = _start(project)
    begun = project / ".venv/bin"
    assert eventually(begun.exists)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.communicate()
    assert begun.exists()
    assert not (project / ".venv/envs-forge.stamp").exists()

    first, second = _start(project), _start(project)
    said = [_finish(first), _finish(second)]
    assert sum("removing the unfinished" in text for text in said) == 1
    assert sum("installing" in text for text in said) == 1
    assert _works(project)


def test_nothing_happens_when_it_is_current(project):
    stamp = project / ".venv/envs-forge.stamp"
    before = stamp.stat().st_mtime_ns
    assert _finish(_start(project)) == ""
    assert stamp.stat().st_mtime_ns == before


def test_a_changed_pin_renews_it_in_place(project):
    (project / ".venv/mine").touch()
    (project / "constraints.txt").write_text("# none\nidna==3.11\n")
    said = _finish(_start(project))
    assert "installing" in said
    assert "removing" not in said
    assert (project / ".venv/mine").exists()


@pytest.fixture
def somebody_elses(project: Path) -> Iterator[Path]:
    """The environment without the note that it is ours."""
    note = project / ".venv/envs-forge.made"
    note.unlink()
    yield project / ".venv"
    note.touch()


def test_somebody_elses_environment_is_kept_even_if_an_installation_was_cut_off(project, somebody_elses):
    (somebody_elses / "envs-forge.stamp").unlink()
    said = _finish(_start(project))
    assert "installing" in said
    assert "removing" not in said
    assert (somebody_elses / "mine").exists()


def test_somebody_elses_broken_environment_is_not_removed_but_named(project, somebody_elses):
    python = somebody_elses / "bin/python"
    target = python.readlink()
    python.unlink()
    process = _start(project)
    _, stderr = process.communicate(timeout=60)
    python.symlink_to(target)
    assert process.returncode == 2
    assert "rm -r .venv" in stderr
    assert (somebody_elses / "mine").exists()


@pytest.mark.slow
def test_a_moved_copy_is_made_again(project):
    moved = project.with_name("moved")
    project.rename(moved)
    try:
        said = _finish(_start(moved))
        assert "removing the unfinished or moved" in said
        assert _works(moved)
    finally:
        moved.rename(project)
