from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from envs_forge.cli import conduct
from envs_forge.cli.app import main
from pipeline.fakes import World, seeds


@dataclass
class Said:
    """What one command line did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.out, self.err
        return json.loads(self.out)


Forge = Callable[..., Said]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def forge(here: Path, capsys: pytest.CaptureFixture[str]) -> Forge:
    """Runs a command line in an empty directory."""

    def call(*args: str) -> Said:
        code = main(args)
        said = capsys.readouterr()
        return Said(code, said.out, said.err)

    return call


@pytest.fixture
def world(here: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """Fakes in the place of all parts, and four seeds in `pool`."""
    world = World()
    monkeypatch.setattr(conduct, "open_parts", lambda config: world.parts(rollouts=config.rollouts))
    seeds(here / "pool", 4)
    return world
