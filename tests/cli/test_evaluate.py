from __future__ import annotations

from pathlib import Path

import pytest

from envs_forge.cli.options import absolute_policy
from envs_forge.rollout.policies.builtin.parameters import preset
from envs_forge.rollout.policies.builtin.stored import write_parameters
from pipeline.fakes import World
from train.builtin.truth import SEEDS

from .conftest import Forge


def test_both_denominators_are_shown(forge: Forge, here: Path, world: World) -> None:
    said = forge("evaluate", "-p", "pool", "-k", "3", "-o", "mine", "-q")
    assert said.code == 0, said.err
    head = next(line for line in said.out.splitlines() if "left out" in line)
    assert head.split() == ["valid", "95", "%", "interval", "left", "out", "all", "95", "%", "interval"]
    assert "Pass@1" in said.out
    assert "Pass@3" in said.out
    assert "12 of 12 rollouts have a reward" in said.out


def test_an_evaluation_is_shown_again_without_running_anything(forge: Forge, here: Path, world: World) -> None:
    first = forge("evaluate", "-p", "pool", "-k", "2", "-o", "mine", "-q", "--json")
    world.calls.clear()
    again = forge("evaluate", "mine", "-q", "--json")
    assert again.code == first.code
    assert again.json == first.json
    assert not world.calls
    assert [task["rollouts"] for task in again.json["tasks"]] == [2] * 4


def test_a_measurement_is_an_evaluation(forge: Forge, here: Path, world: World) -> None:
    forge("measure", "-p", "pool", "-k", "2", "-q")
    said = forge("evaluate", "latest", "--json", "-q")
    assert (said.code, said.json["attempts"], said.json["missing"]) == (0, 2, 0)


def test_two_runs_are_compared_by_task(forge: Forge, here: Path, world: World) -> None:
    forge("evaluate", "-p", "pool", "-k", "2", "-o", "a", "-q")
    forge("evaluate", "-p", "pool", "-x", "seed-3", "-k", "4", "-o", "b", "-q")
    said = forge("evaluate", "--compare", "a", "b", "--json")
    pair = said.json["difference"]["valid"]
    assert (said.code, pair["unpaired"], pair["better"] + pair["equal"] + pair["worse"]) == (0, 1, 3)
    said = forge("evaluate", "--compare", "a", "b")
    assert "Pass@1, A − B" in said.out
    assert len([line for line in said.out.splitlines() if line.startswith("Pass@1 ")]) == 2


def test_one_of_three_things_is_asked(forge: Forge, here: Path, world: World) -> None:
    for arguments in ((), ("-p", "pool", "mine"), ("mine", "--compare", "a", "b")):
        said = forge("evaluate", *arguments)
        assert (said.code, said.out) == (2, "")
        assert "--compare A B" in said.err
    assert forge("evaluate", "--compare", "a", "b").code == 2
    said = forge("evaluate", "-p", "pool", "--registry", "r.json")
    assert (said.code, said.out) == (2, "")
    assert "-d" in said.err


def test_dry_run_starts_nothing(forge: Forge, here: Path, world: World) -> None:
    said = forge("evaluate", "-p", "pool", "-k", "5", "--dry-run")
    assert (said.code, said.json["rollouts"]) == (0, 20)
    assert not (here / "runs").exists()


@pytest.mark.parametrize(("policy", "path"), [("command:x", "x"), ("builtin:x.json", "x.json"), ("builtin:d/x", "d/x")])
def test_files_of_policies_become_absolute(here: Path, policy: str, path: str) -> None:
    assert absolute_policy(policy) == f"{policy.partition(':')[0]}:{here / path}"


@pytest.mark.parametrize("policy", ["builtin", "builtin:weak", "terminal", "command:", "nop"])
def test_other_policies_stay(policy: str) -> None:
    assert absolute_policy(policy) == policy


@pytest.mark.engine
def test_ten_bundles_in_real_sandboxes(forge: Forge, here: Path) -> None:
    """A reader that follows its strongest habit only, so that one rollout says all."""
    write_parameters(here / "p.json", preset("strong", temperature=0.01))
    said = forge("evaluate", "-p", str(SEEDS), "-l", "10", "-k", "1", "--policy", "builtin:p.json", "-q", "--json")
    assert said.code == 0, said.err
    assert (len(said.json["tasks"]), said.json["missing"]) == (10, 0)
    found = said.json["valid"]["pass_at"]["1"]
    assert 0 < found["value"] < 1
    assert 0 <= found["low"] < found["value"] < found["high"] <= 1
    assert found["units"] == said.json["all_trials"]["rollouts"] == 10
