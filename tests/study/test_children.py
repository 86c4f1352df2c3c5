"""Children of a study as `calibrate` reads them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from envs_forge.cli.app import main
from envs_forge.errors import UserError
from envs_forge.study.block import Block
from envs_forge.study.cell import run_cell
from envs_forge.study.children import is_study, study_children
from envs_forge.study.directory import StudyDirectory

from .small import CONFIG, ground


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("study")
    directory = StudyDirectory(root)
    directory.begin(CONFIG)
    shared = Block(ground(root / "candidates"), CONFIG.regimes[0], CONFIG.readers[0], 0)
    for arm in CONFIG.arms:
        directory.keep_cell(run_cell(shared, arm))
    return root


def test_every_environment_of_an_arm_that_measures_counts_once(study: Path) -> None:
    cells = [json.loads(path.read_text()) for path in study.glob("cells/*/*/*/*.json")]
    measuring = [cell for cell in cells if cell["measuring"]]
    hashes = {child["content_hash"] for cell in measuring for child in cell["children"]}
    assert len(measuring) == 2
    found = study_children(study)
    assert len(found) == len(hashes) > 0
    assert {str(child.action) for child in found} <= {child["action"] for c in measuring for child in c["children"]}
    assert all(child.n == CONFIG.rollouts and child.child_n == CONFIG.learner.group for child in found)


def test_the_command_learns_from_a_study(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calibrate", str(study), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["figures"]["all"]["children"] == len(study_children(study))


def test_a_study_without_cells_says_so(tmp_path: Path) -> None:
    assert not is_study(tmp_path)
    (tmp_path / "cells").mkdir()
    (tmp_path / "study.json").write_text("{}")
    assert is_study(tmp_path)
    with pytest.raises(UserError, match="no environment"):
        study_children(tmp_path)


def test_an_earlier_file_is_held_against_the_children(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "learned.json"
    assert main(["calibrate", str(study), "-o", str(file), "--json"]) == 0
    first = json.loads(capsys.readouterr().out)["errors"]
    assert list(first) == ["as planned", "published", "learned here"]
    assert main(["calibrate", str(study), "--check", str(file), "--json"]) == 0
    again = json.loads(capsys.readouterr().out)["errors"]
    assert again[str(file)] == again["learned here"] == first["learned here"]
    assert main(["calibrate", str(study), "--check", str(file)]) == 0
    assert any(line.startswith("learned here ") for line in capsys.readouterr().out.splitlines())
    assert main(["calibrate", str(study), "--check", str(tmp_path / "none.json")]) == 2
    assert "cannot read" in capsys.readouterr().err
