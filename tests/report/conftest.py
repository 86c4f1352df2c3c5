"""A run on fakes whose texts are hostile, and a training."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from envs_forge.bundle.model import Bundle
from envs_forge.bundle.writing import write_bundle
from envs_forge.config import make_config
from envs_forge.pipeline import run
from envs_forge.run.directory import RunDirectory
from envs_forge.run.seeds import load_seeds
from envs_forge.synthesis.generator import Assignment
from pipeline.fakes import World, bundle

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)> {{ 7 * 7 }} 'quoted' & \"double\"\n"


def hostile(number: int) -> Bundle:
    return bundle(f"seed-{number}", f"Do {number}. {HOSTILE}")


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run with rejections."""
    root = tmp_path_factory.mktemp("reported")
    seeds = load_seeds([write_bundle(hostile(number), root / "pool") for number in range(4)])
    directory = RunDirectory(root / "run")
    directory.root.mkdir()

    def fate(assignment: Assignment) -> str:
        return "weak-test" if assignment.draw == 0 and assignment.slot == 1 else ""

    config = make_config({"seeds": [str(root / "pool")], "plan": {"size": 4}, "rollouts": 2}, where="test")
    assert run(directory, config, seeds, World(fate).parts()).state == "done"
    return directory.root


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a training leaves."""
    root = tmp_path_factory.mktemp("trained")
    rows = [
        {"step": step, "groups": 2, "mixed": step % 2, "dropped": 0, "mean_reward": None if step == 2 else step / 10}
        for step in range(1, 6)
    ]
    (root / "metrics.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (root / "training.json").write_text(json.dumps({"policy": "builtin"}))
    return root
