"""Options of synthesis: what is refused in one line, what a dry run shows, runs from rates and plans."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from envs_forge.bundle.writing import write_bundle
from envs_forge.config import BudgetSettings, WriterSettings, load_config
from envs_forge.models.answer import Request
from envs_forge.models.settings import PriceSettings
from envs_forge.run.budget import Budget, BudgetReachedError, Spend
from envs_forge.run.desk import prompt_at_most
from pipeline.fakes import World, bundle

from .conftest import Forge

MODEL = ("--generator-model", "m", "--generator-url", "http://127.0.0.1:9/v1")


@pytest.fixture
def pool(here: Path) -> Path:
    for number in range(3):
        write_bundle(bundle(f"seed-{number}", f"Do {number}.\n"), here / "pool")
    return here / "pool"


@pytest.fixture
def rates(here: Path) -> Path:
    (here / "rates.json").write_text(json.dumps([{"id": f"seed-{n}", "k": n, "n": 4} for n in range(3)]))
    return here / "rates.json"


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ((), "--pass-rates PATH or --plan PATH"),
        (("--pass-rates", "rates.json", *MODEL, "--max-cost", "5"), "--price PROMPT:COMPLETION"),
        (("--pass-rates", "rates.json", *MODEL, "--price", "cheap"), "--price"),
        (("--pass-rates", "rates.json", *MODEL, "--price", "1:2:3:4"), "--price"),
        (("--pass-rates", "rates.json", *MODEL, "--price", "-1:2"), "writer.price.prompt"),
        (("--pass-rates", "rates.json", *MODEL, "--max-minutes", "1"), "less than one request"),
        (("--pass-rates", "rates.json", *MODEL, "--band", "0.9:0.1"), "band must be LOW:HIGH"),
        (("--pass-rates", "rates.json", *MODEL, "--band", "0.1"), "--band LO:HI"),
        (("--pass-rates", "rates.json", *MODEL, "--band", "0.1:0.9"), "--remeasure"),
        (("--pass-rates", "rates.json", "--generator", "llm"), "--generator-model"),
        (("--pass-rates", "rates.json", "--generator-model", "m", "--generator-url", "x"), "--generator-url http"),
        (("--pass-rates", "rates.json", *MODEL, "--judge-model", "j", "--judge-url", "http://127.0.0.1:9/v1",
          "--price", "1:2", "--max-cost", "5"), "--judge-price"),
        (("--plan", "none.json",), "plan -o"),
        (("--pass-rates", "rates.json", "--max-cost", "5"), "--max-cost does nothing without a model that writes"),
        (("--pass-rates", "rates.json", "--generator-url", "http://127.0.0.1:9/v1"), "or leave --generator-url out"),
        (("--pass-rates", "rates.json", "--price", "1:2"), "--price does nothing"),
        (("--pass-rates", "rates.json", "--generator", "procedural", *MODEL), "--generator-model does nothing"),
        (("--pass-rates", "rates.json", *MODEL, "--judge-rejects"), "--judge-rejects does nothing without"),
        (("--pass-rates", "unfit.json", *MODEL), "matched by content_hash, else by id"),
        (("--pass-rates", "rates.json", *MODEL, "--against", "nowhere"), "nowhere"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_with_the_fix(
    forge: Forge, pool: Path, rates: Path, more: tuple[str, ...], told: str
) -> None:
    Path("unfit.json").write_text('[{"id": "another", "k": 1, "n": 2}]')
    said = forge("synthesize", "-p", "pool", *more)
    assert said.code == 2, said.err
    assert told in said.err
    assert said.err.count("\n") == 1
    assert not Path("runs").exists()


def test_a_dry_run_prints_the_prompt_and_its_tokens(forge: Forge, pool: Path, rates: Path) -> None:
    said = forge("run", "-p", "pool", *MODEL, "--price", "1:2", "--dry-run")
    assert said.code == 0, said.err
    assert "You write training environments" in said.out
    assert "Do 0." in said.out
    assert "shared by all calls" in said.out
    assert re.search(r"about \$0\.0\d+, \$0\.\d+ reserved", said.out)
    assert "no pass rates were given (--pass-rates): the prompt is shown as if the seed passed 2 of 4" in said.out


def test_a_dry_run_refuses_the_caps_that_a_run_refuses(forge: Forge, pool: Path) -> None:
    said = forge("run", "-p", "pool", *MODEL, "--max-cost", "5", "--dry-run")
    assert (said.code, said.out) == (2, "")
    assert "--price PROMPT:COMPLETION" in said.err


def test_a_cap_of_what_a_dry_run_says_is_reserved_lets_one_request_through(forge: Forge, pool: Path) -> None:
    shown = forge("run", "-p", "pool", *MODEL, "--price", "1:2", "--dry-run", "--json").json["prompt"]
    reserved = shown["reserved"]
    assert reserved["cost_usd"] > shown["cost_usd"]
    request = Request(messages=shown["messages"])
    budget = Budget(BudgetSettings(tokens=reserved["tokens"], usd=reserved["cost_usd"]))
    sampling = WriterSettings().sampling
    prompt = prompt_at_most(request, sampling)
    cost = PriceSettings(prompt=1, completion=2).worst(prompt, sampling.max_tokens)
    worst = Spend(1, prompt + sampling.max_tokens, cost)
    budget.settle(budget.reserve(worst, 1.0), worst)
    with pytest.raises(BudgetReachedError):
        budget.reserve(worst, 1.0)


def test_a_dry_run_shows_the_rates_that_are_given(forge: Forge, pool: Path, rates: Path) -> None:
    said = forge("synthesize", "-p", "pool", "--pass-rates", "rates.json", *MODEL, "--dry-run", "--json")
    assert said.code == 0, said.err
    shown = said.json["prompt"]["assignment"]
    rows = {row["id"]: row for row in json.loads(rates.read_text())}
    assert (shown["k"], shown["n"]) == (rows[shown["seed_id"]]["k"], rows[shown["seed_id"]]["n"])
    assert shown["pass_rate"] == shown["k"] / shown["n"]
    assert not said.json["prompt"]["assumed_rate"]


def test_a_dry_run_as_json_names_who_is_ineligible_and_why(forge: Forge, pool: Path, rates: Path) -> None:
    (pool / "seed-1" / "instruction.md").write_text("canary-17\n")
    said = forge("run", "-p", "pool", *MODEL, "--canary", "canary-17", "--dry-run", "--json")
    found = said.json
    assert "canary" in found["ineligible"]["seed-1"]["diversify/in_depth"]
    assert "single command" in found["ineligible"]["seed-0"]["reduce/in_depth"]
    assert found["prompt"]["tokens"]["all"] > found["prompt"]["tokens"]["shared"] > 500
    assert [message["role"] for message in found["prompt"]["messages"]] == ["system", "user"]


def test_environments_come_of_rates_without_a_rollout(forge: Forge, world: World, rates: Path) -> None:
    said = forge("synthesize", "-p", "pool", "--pass-rates", "rates.json", "-N", "2", "--json")
    assert (said.code, said.json["accepted"], said.json["totals"]["trials"]) == (0, 2, 0)
    assert said.json["synthesis"]["attempts_per_accepted"] == 1.0


def test_environments_come_of_a_plan_and_its_size_is_n(forge: Forge, world: World, rates: Path) -> None:
    assert forge("run", "-p", "pool", "-N", "3", "-o", "first").code == 0
    said = forge("synthesize", "-p", "pool", "--plan", "first", "-o", "second", "--json")
    assert (said.code, said.json["requested"]) == (0, 3)
    first = json.loads(Path("first/result.json").read_text())
    assert [row["action"] for row in said.json["environments"]] == [row["action"] for row in first["environments"]]


def test_a_plan_that_does_not_fit_is_refused_before_there_is_a_run(forge: Forge, world: World) -> None:
    assert forge("run", "-p", "pool", "-N", "3", "-o", "first").code == 0
    said = forge("synthesize", "-p", "pool", "--plan", "first", "-N", "2", "-o", "second")
    assert (said.code, said.out) == (2, "")
    assert "the plan holds 3 choices, not 2" in said.err
    assert not Path("second").exists()


def test_status_shows_the_funnel(forge: Forge, world: World) -> None:
    world.fate = lambda assignment: "weak" if assignment.draw == 0 else ""
    assert forge("run", "-p", "pool", "-N", "2", "-o", "mine").code == 0
    said = forge("status", "mine")
    assert "attempts/accepted" in said.out
    assert "2 oracle/weak" in said.out
    assert "synthesis: 2 accepted of 4 attempts, 2.00 attempts per accepted" in said.out


def test_the_example_config_can_be_used() -> None:
    config = load_config(Path(__file__).parents[2] / "examples" / "synthesis.toml", {})
    assert (config.generator, config.writer.model, config.budget.usd) == ("llm", "my-writer", 20.0)
    assert config.writer.price.cost(1_000_000, 1_000_000) == 2.5


def test_rates_of_another_policy_are_refused_before_there_is_a_run(forge: Forge, world: World, rates: Path) -> None:
    table = {"policy": {"kind": "terminal", "name": "another"}, "pass_rates": json.loads(rates.read_text())}
    rates.write_text(json.dumps(table))
    given = ("synthesize", "-p", "pool", "--pass-rates", "rates.json", "-N", "2", "-o", "second")
    said = forge(*given, "--remeasure", "2")
    assert (said.code, said.out) == (2, "")
    assert "are of the policy terminal another" in said.err
    assert not Path("second").exists()
    assert forge(*given, "--json").json["accepted"] == 2
