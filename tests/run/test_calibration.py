from __future__ import annotations

import json
from pathlib import Path

import pytest

from envs_forge.cli.app import main
from envs_forge.errors import UserError
from envs_forge.ledger.records import AttemptRecord, PlanRecord, TrialRecord
from envs_forge.ledger.store import Ledger
from envs_forge.run.calibration import children_of, measured_children
from envs_forge.run.directory import RunDirectory
from envs_forge.run.place import Made
from envs_forge.synthesis.generator import Assignment


def attempt(slot: int, content: str) -> AttemptRecord:
    assignment = Assignment.model_validate(
        {
            "slot": slot,
            "draw": 0,
            "seed_id": "s",
            "seed_hash": "h",
            "action": {"projection": "increase", "direction": "in_depth"},
            "recipe": "forge",
            "pass_rate": 1.0,
            "k": 4,
            "n": 4,
            "predicted": 0.75,
            "frontier_score": 0.5,
        }
    )
    made = Made(assignment=assignment, generator="g", candidate="c", content_hash=content, seconds=0.0)
    return AttemptRecord(
        slot=slot, plan=0, draw=0, seed_hash="h", action="increase/in_depth", candidate=content, content_hash=content,
        duration_s=0.0, payload=made.model_dump(mode="json"),
    )  # fmt: skip


def trial(content: str, number: int, reward: float | None, purpose: str = "child") -> TrialRecord:
    return TrialRecord(
        bundle_hash=content, policy="p", number=number, retry=0, bundle_id="b", status="passed",
        counted=reward is not None, reward=reward, duration_s=0.0, purpose=purpose,
    )  # fmt: skip


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    directory = RunDirectory(tmp_path / "run")
    directory.root.mkdir()
    (directory.root / "config.json").write_text("{}")
    with Ledger.open(directory.ledger) as ledger:
        ledger.append(PlanRecord(number=0, size=3, fixed=0, recipe="forge", objective=0.0, duration_s=0.0))
        ledger.append(attempt(0, "one"), attempt(1, "two"), attempt(2, "three"))
        ledger.append(trial("one", 0, 1.0), trial("one", 1, 0.0), trial("one", 2, None), trial("two", 0, 1.0))
        ledger.append(trial("seed", 0, 1.0, "seed"))
    return directory


def test_children_are_those_that_were_attempted_with_their_counted_rewards(run: RunDirectory) -> None:
    found = {(child.child_k, child.child_n, child.k, child.n, child.predicted) for child in measured_children(run)}
    assert found == {(1.0, 2, 4, 4, 0.75), (1.0, 1, 4, 4, 0.75)}


def test_runs_that_measured_none_are_an_error(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path)
    Ledger.open(directory.ledger).close()
    with pytest.raises(UserError, match="measured its environments"):
        children_of([directory])


def test_the_commands(run: RunDirectory, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "learned.json"
    assert main(["calibrate", str(run.root), "-o", str(file), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["figures"]["all"]["children"] == 2
    rates = tmp_path / "rates.csv"
    rates.write_text("id,k,n\na,4,4\nb,2,4\n")
    assert main(["plan", "--pass-rates", str(rates), "--transition", str(file), "--json", "-N", "1"]) == 0
    assert json.loads(capsys.readouterr().out)["size"] == 1
    file.write_text("{}")
    assert main(["plan", "--pass-rates", str(rates), "--transition", str(file)]) == 2
    assert "no file of `envs-forge calibrate -o`" in capsys.readouterr().err
