"""Datasets with a program in Harbor's place, and with the real Harbor and a registry file (HARBOR_PYTHON)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from envs_forge.bundle import find_bundles
from envs_forge.cli.app import main
from envs_forge.errors import PrerequisiteError, UserError
from envs_forge.rollout.policies.harbor.datasets import fetch_dataset
from envs_forge.rollout.policies.harbor.install import Harbor

PYTHON = os.environ.get("HARBOR_PYTHON", "")
needs_harbor = pytest.mark.skipif(not PYTHON, reason="HARBOR_PYTHON is not set to a Python that has harbor 0.26")
SEEDS = Path(__file__).parents[4] / "seeds"
TASKS = ("60-audit-count-lines", "69-incident-make-executable")
PROGRAM = """#!{python}
import pathlib, sys
pathlib.Path({seen!r}).open("a").write(" ".join(sys.argv[1:]) + chr(10))
place = pathlib.Path(sys.argv[sys.argv.index("--output-dir") + 1])
def task(name):
    (place / name / "environment" / "inner").mkdir(parents=True)
    for folder in (place / name, place / name / "environment" / "inner"):
        (folder / "task.toml").touch()
{code}
"""


@pytest.fixture
def harbor(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def make(code):
        program = tmp_path / "harbor"
        program.write_text(PROGRAM.format(python=sys.executable, seen=str(tmp_path / "seen"), code=code))
        program.chmod(0o755)
        return Harbor(program, "0.26.0")

    return make


def kept(tmp_path):
    """What is in the cache of datasets."""
    root = tmp_path / "cache" / "envs-forge" / "datasets"
    return sorted(path.name for path in root.iterdir()) if root.exists() else []


def test_a_dataset_is_downloaded_once(harbor, tmp_path):
    tool = harbor("task('bench/b'); task('bench/a'); task('more/deep/c')")
    folders = fetch_dataset("org/bench@2.0", tool)
    assert [folder.name for folder in folders] == ["bench", "deep"]
    assert [path.name for path in find_bundles(folders)] == ["a", "b", "c"]
    assert fetch_dataset("org/bench@2.0", tool) == folders
    (line,) = (tmp_path / "seen").read_text().splitlines()
    assert line.startswith("download org/bench@2.0 --export --output-dir ")
    assert "--registry" not in line


def test_another_registry_is_another_dataset(harbor, tmp_path):
    tool = harbor("task('bench/a')")
    file = tmp_path / "registry.json"
    for text in ("[]", "[1]", "[1]"):
        file.write_text(text)
        fetch_dataset("bench", tool, registry=str(file))
    fetch_dataset("bench", tool, registry="https://registry.example/r.json")
    lines = (tmp_path / "seen").read_text().splitlines()
    assert [line.partition("--registry-")[2] for line in lines] == [
        f"path {file}", f"path {file}", "url https://registry.example/r.json",
    ]  # fmt: skip
    assert len(kept(tmp_path)) == 3


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("print('⠋ 0/? Downloading ━━ 0:00 Error: Dataset x not found'); sys.exit(1)", "ed: Dataset x not found"),
        ("print('│ trace │'); print('ConnectError: [Errno -2]'); sys.exit(1)", r"ed: ConnectError: \[Errno -2\]"),
        ("task('bench/a'); sys.exit(3)", "could not be downloaded: no reason given"),
        ("", "came without tasks"),
    ],
)  # fmt: skip
def test_what_cannot_be_had_is_one_line_and_leaves_nothing(harbor, tmp_path, code, said):
    with pytest.raises(PrerequisiteError, match=said) as raised:
        fetch_dataset("bench", harbor(code))
    assert "-p" in str(raised.value.fix)
    assert "\n" not in str(raised.value)
    assert kept(tmp_path) == []


@pytest.mark.parametrize("name", ["", "--help", "a/b/c", "a b", "../x", "a@", "@1"])
def test_a_name_is_a_name(harbor, name):
    with pytest.raises(UserError, match="no name of a dataset"):
        fetch_dataset(name, harbor(""))


def test_a_registry_file_has_to_be_there(harbor, tmp_path):
    with pytest.raises(UserError, match="no such registry file"):
        fetch_dataset("bench", harbor(""), registry=str(tmp_path / "none.json"))


@pytest.fixture
def registry(tmp_path, monkeypatch):
    """A registry file of Harbor's and the git repository it names, both on disk."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    repository = tmp_path / "repository"
    for name in TASKS:
        shutil.copytree(SEEDS / name, repository / "tasks" / name)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.example", "-C", str(repository)]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "tasks"]):
        subprocess.run([*git, *command], check=True, capture_output=True)
    rows = [{"name": name, "git_url": repository.as_uri(), "path": f"tasks/{name}"} for name in TASKS]
    beside = [{"name": name, "path": str(SEEDS / name)} for name in TASKS]
    datasets = [
        {"name": name, "version": "1.0", "description": "", "tasks": tasks}
        for name, tasks in (("bench", rows), ("beside", beside))
    ]
    file = tmp_path / "registry.json"
    file.write_text(json.dumps(datasets))
    return file


@needs_harbor
@pytest.mark.engine
def test_harbor_s_dataset_is_evaluated_as_any_directory(registry, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    asked = ["evaluate", "-d", "bench@1.0", "--registry", "registry.json", "-k", "1", "-q", "--json"]
    for policy, passed in (("oracle", 1), ("nop", 0)):
        assert main([*asked, "--policy", policy, "-o", policy]) == 0
        found = json.loads(capsys.readouterr().out)
        assert {task["id"]: task["passed"] for task in found["tasks"]} == dict.fromkeys(TASKS, passed)


@needs_harbor
@pytest.mark.parametrize(
    ("name", "said"), [("bench@2.0", "not found"), ("none", "not found"), ("beside", "came without tasks")]
)
def test_what_harbor_does_not_have_is_one_line(registry, tmp_path, monkeypatch, capsys, name, said):
    monkeypatch.chdir(tmp_path)
    assert main(["evaluate", "-d", name, "--registry", "registry.json"]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert said in told.err
    assert "-p" in told.err
    assert not (tmp_path / "runs").exists()
