"""Accepted candidates measured again, and environments from rates and plans that are there already."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from envs_forge.errors import UserError
from envs_forge.ledger.records import TrialRecord
from envs_forge.run.checks import band_check
from envs_forge.run.directory import RunDirectory
from envs_forge.run.parts import Parts
from models.server import ModelServer
from pipeline.fakes import FakeMeasure, World

from .writing import answers, go, ledger, settings


def with_children(band: tuple[float, float] | None) -> Any:
    def change(parts: Parts) -> Parts:
        return replace(parts, remeasure=FakeMeasure(World(), 4), in_band=band_check(band))

    return change


def test_children_are_measured_and_never_mixed_with_seeds(tmp_path: Path) -> None:
    with ModelServer(lambda body, n: answers(f"new-{n}")) as server:
        config = settings(server, size=2, remeasure=4)
        result = go(tmp_path, server, config, change=with_children(None))
        assert result.state == "done"
        assert [row.measured_n for row in result.environments] == [4, 4]
        assert all(row.measured_k is not None for row in result.environments)
        assert len(result.seeds) == 4
        assert result.totals.trials_by_purpose == {"child": 8, "seed": 8}
        assert go(tmp_path, server, config, change=with_children(None)).state == "done"
    assert len(ledger(tmp_path).read(TrialRecord, purpose="child")) == 8


def test_a_band_rejects_with_what_was_measured_and_goes_to_repair(tmp_path: Path) -> None:
    with ModelServer(lambda body, n: answers(f"new-{n}")) as server:
        config = settings(server, size=1, remeasure=4, draws=9, in_flight=1)
        result = go(tmp_path, server, config, change=with_children((0.25, 0.25)))
        assert result.state == "done"
        told = [body["messages"][-1]["content"] for body in server.requests if len(body["messages"]) > 2]
    assert {row.measured_k for row in result.environments} == {1.0}
    assert set(result.rejections) <= {"band/below-band", "band/above-band"}
    assert result.rejections
    assert all("was predicted and 0.25 to 0.25 is wanted" in text for text in told)


def test_rates_that_are_there_take_the_place_of_rollouts(tmp_path: Path) -> None:
    rates = tmp_path / "rates.json"
    rates.write_text(json.dumps([{"id": f"seed-{n}", "k": n, "n": 4} for n in range(3)]))
    world = World()
    with ModelServer(lambda body, n: answers(f"new-{n}")) as server:
        config = settings(server, size=2, pass_rates=str(rates))
        result = go(tmp_path, server, config, world=world)
        rates.unlink()
        assert go(tmp_path, server, config).state == "done"
    assert (result.state, result.totals.trials) == ("done", 0)
    assert not [key for key in world.calls if key.startswith("trial")]
    assert {row.seed for row in result.environments} <= {"seed-0", "seed-1", "seed-2"}


def test_failures_of_a_run_that_measured_reach_the_prompt(tmp_path: Path) -> None:
    (tmp_path / "first").mkdir()
    (tmp_path / "second").mkdir()
    with ModelServer(lambda body, n: answers(f"new-{n}")) as server:
        go(tmp_path / "first", server, settings(server, size=1))
        asked = len(server.requests)
        go(tmp_path / "second", server, settings(server, size=4, pass_rates=str(tmp_path / "first" / "run")))
        told = [body["messages"][1]["content"] for body in server.requests[asked:]]
    assert any("failing tries on the seed failed" in text for text in told)


def test_a_plan_that_is_there_is_the_first_one(tmp_path: Path) -> None:
    (tmp_path / "first").mkdir()
    (tmp_path / "second").mkdir()
    with ModelServer(lambda body, n: answers(f"new-{n}")) as server:
        before = go(tmp_path / "first", server, settings(server, size=2))
        plan = RunDirectory(tmp_path / "first" / "run").plan
        after = go(tmp_path / "second", server, settings(server, size=2, planned=str(plan)))
        assert [(row.seed, row.action) for row in after.environments] == [
            (row.seed, row.action) for row in before.environments
        ]
        assert after.totals.trials == 0
        (tmp_path / "third").mkdir()
        with pytest.raises(UserError, match="2 choices, not 3"):
            go(tmp_path / "third", server, settings(server, size=3, planned=str(plan)))


@pytest.mark.parametrize("text", ["", "[]", "{}", "nonsense"])
def test_what_is_no_plan_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "plan.json").write_text(text)
    with ModelServer() as server, pytest.raises(UserError, match="is no plan"):
        go(tmp_path, server, settings(server, planned=str(tmp_path / "plan.json")))
