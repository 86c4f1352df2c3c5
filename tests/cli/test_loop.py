"""Two rounds with real containers, then the same command again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from envs_forge.cli.app import main

SEEDS = Path(__file__).resolve().parents[2] / "seeds"


@pytest.mark.slow
@pytest.mark.engine
def test_children_of_a_round_are_parents_of_the_next(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["loop", "-p", str(SEEDS), "-l", "8", "-k", "2", "-N", "3", "--fast", "-o", str(tmp_path / "loop")]
    command += ["--held-out", str(SEEDS / sorted(path.name for path in SEEDS.iterdir())[20]), "--held-out-k", "2"]
    assert main([*command, "--rounds", "1", "-q", "--json"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert [row["environments"] for row in first["rounds"]] == [3]
    assert main([*command, "--rounds", "2", "-q", "--json"]) == 0
    second = json.loads(capsys.readouterr().out)
    assert second["rounds"][0] == first["rounds"][0]
    assert [row["parents"] for row in second["rounds"]] == [8, 11]
    assert second["stopped"]
    assert (tmp_path / "loop/round-2/training/parameters.json").is_file()


def test_only_the_builtin_policy_can_be_trained_in_a_loop(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["loop", "-p", str(SEEDS), "--policy", "oracle", "-o", str(tmp_path / "loop")]) == 2
    assert "only the builtin policy can be trained" in capsys.readouterr().err
    assert not (tmp_path / "loop").exists()
