"""Each thing that can be missing, and the one line that says so."""

import os
import platform
from pathlib import Path

import pytest

from envs_forge.errors import EngineError, PrerequisiteError
from envs_forge.sandbox.oci import OciEngine, probe, probing, tools
from envs_forge.sandbox.oci.container import Container

from .conftest import leftovers

pytestmark = pytest.mark.engine


def test_where_it_works_a_sandbox_runs_once_a_boot(
    oci: OciEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    probe(tmp_path)
    assert leftovers(tmp_path) == []
    monkeypatch.setattr(probing, "_run_one", lambda root: pytest.fail("it was known"))
    probe(tmp_path)


@pytest.mark.parametrize(
    ("target", "name", "value", "message"),
    [
        (platform, "system", lambda: "Darwin", "needs Linux"),
        (os, "geteuid", lambda: 1000, "needs root"),
        (probing, "version", lambda: "none", "no control groups"),
    ],
)
def test_what_is_missing_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: object, name: str, value: object, message: str
) -> None:
    monkeypatch.setattr(target, name, value)
    with pytest.raises(PrerequisiteError, match=message) as caught:
        probe(tmp_path)
    assert caught.value.fix


def test_a_missing_program_names_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name, path=None: None if name == "mke2fs" else f"/usr/sbin/{name}")
    tools.tool.cache_clear()
    try:
        with pytest.raises(PrerequisiteError, match="mke2fs is not installed") as caught:
            probe(tmp_path)
    finally:
        tools.tool.cache_clear()
    assert caught.value.fix == "apt-get install e2fsprogs"


def test_a_container_that_does_not_start_is_a_prerequisite_and_leaves_nothing(
    oci: OciEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object) -> None:
        raise EngineError("runc could not start a sandbox: not allowed")

    monkeypatch.setattr(Container, "start", refuse)
    with pytest.raises(PrerequisiteError, match="not allowed"):
        probe(tmp_path)
    assert leftovers(tmp_path) == []
