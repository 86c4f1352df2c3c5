from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline.fakes import World
from run.test_seeds import task

from .conftest import Forge


def test_run_shows_a_table_where_things_are_and_what_is_next(forge: Forge, here: Path, world: World) -> None:
    said = forge("run", "-p", "pool", "-N", "4", "-k", "2")
    assert said.code == 0
    head, *rows = said.out.splitlines()
    assert head.split() == ["seed", "k/n", "action", "predicted", "F"]
    assert sorted(row.split()[0] for row in rows[:4]) == [f"seed-{n}" for n in range(4)]
    assert all("/2" in row for row in rows[:4])
    run = (here / "runs" / "latest").readlink()
    assert rows[5:] == [
        "4 of 4 environments accepted, 4 exported",
        "synthesis: 4 accepted of 4 attempts, 1.00 attempts per accepted, 48 tokens, 12 tokens per accepted, "
        "cost not known",
        f"results: runs/{run}/export (tasks and index.jsonl), figures in runs/{run}/result.json",
        f"next: envs-forge verify -p runs/{run}/export/tasks",
    ]
    assert "verified 4/4" in said.err or "ended" in said.err
    assert "\x1b" not in said.out + said.err


def test_run_as_json_is_one_document_on_stdout(forge: Forge, world: World) -> None:
    said = forge("run", "-p", "pool", "-N", "3", "--json", "-q")
    assert (said.json["requested"], said.json["accepted"], said.json["exported"]) == (3, 3, 3)
    assert said.err == ""


def test_run_short_of_n_exits_1_and_says_how_to_export(forge: Forge, here: Path, world: World) -> None:
    world.fate = lambda assignment: "oracle-failed" if assignment.seed_id == "seed-1" else ""
    (here / "run.toml").write_text("draws = 1\n[plan]\nsize = 4\ncapacity = 1\n")
    said = forge("run", "-p", "pool", "-c", "run.toml", "-o", "mine", "-q")
    assert said.code == 1
    assert "3 of 4 environments accepted, 0 exported" in said.out
    assert "rejected: oracle/oracle-failed 6" in said.out
    assert "envs-forge export mine --allow-short" in said.out
    said = forge("export", "mine")
    assert (said.code, (here / "mine" / "export").exists()) == (1, False)
    said = forge("export", "mine", "--allow-short", "-o", "elsewhere", "--json")
    assert said.code == 1
    assert len(list((here / "elsewhere" / "tasks").iterdir())) == 3
    assert forge("resume", "mine", "--allow-short", "-q").code == 1
    assert json.loads((here / "mine" / "result.json").read_text())["exported"] == 3


def test_export_for_readers_that_pull_images(forge: Forge, here: Path, world: World) -> None:
    assert forge("run", "-p", "pool", "-N", "2", "-o", "mine", "-q").code == 0
    assert forge("export", "mine", "-o", "elsewhere", "--image-prefix", "r.example/t").code == 0
    for line in map(json.loads, (here / "elsewhere" / "index.jsonl").read_text().splitlines()):
        assert line["image"].startswith(f"r.example/t/{line['id'].lower()}:")
        assert line["image"] in (here / "elsewhere" / line["path"] / "task.toml").read_text()
    said = forge("export", "mine", "--image-prefix", "No Prefix")
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("Error: 'No Prefix' cannot begin the name of an image (")


def test_dry_run_starts_nothing(forge: Forge, here: Path, world: World) -> None:
    assert forge("run", "-p", "pool", "-N", "3", "--dry-run").out.splitlines()[0].startswith("seeds         4: seed-0,")
    said = forge("run", "-p", "pool", "-N", "3", "-k", "5", "--dry-run", "--json")
    assert (said.code, said.json["rollouts"], said.json["environments"]) == (0, 20, 3)
    assert said.json["config"]["seeds"] == [str(here / "pool")]
    assert not (here / "runs").exists()
    assert not world.calls


def test_measure_writes_what_plan_reads(forge: Forge, here: Path, world: World) -> None:
    said = forge("measure", "-p", "pool", "-k", "3", "-o", "rates.json", "-q")
    assert said.code == 0
    assert said.out.splitlines()[0].split() == ["seed", "k/n", "rate", "95", "%", "interval", "remarks"]
    assert "next: envs-forge plan --pass-rates runs/" in said.out
    said = forge("measure", "-p", "pool", "-k", "3", "-q", "--json")
    assert [(row["id"], row["n"]) for row in said.json["pass_rates"]] == [(f"seed-{n}", 3) for n in range(4)]
    for source in ("rates.json", "runs/latest"):
        said = forge("plan", "--pass-rates", source, "--json")
        assert said.code == 0
        assert (said.json["size"], {choice["n"] for choice in said.json["choices"]}) == (4, {3})


def test_resume_of_a_finished_run_does_nothing(forge: Forge, here: Path, world: World) -> None:
    first = forge("run", "-p", "pool", "-N", "3", "--json", "-q")
    world.calls.clear()
    again = forge("resume", "--json")
    assert again.code == 0
    assert again.json["environments"] == first.json["environments"]
    assert not world.calls


def test_status_tells_how_far_a_run_is(forge: Forge, world: World) -> None:
    forge("run", "-p", "pool", "-N", "3", "-k", "2", "-q")
    said = forge("status")
    assert said.code == 0
    assert ": done" in said.out
    assert "rollouts 8: 8 counted, 0 not (" in said.out
    assert "accepted 3/3, exported 3" in said.out
    assert "policy: 8 calls, 80 + 24 tokens" in said.out
    found = forge("status", "--json").json
    assert (found["state"], found["in_use"], found["totals"]["attempts"]) == ("done", False, 3)


def test_lint_names_file_and_code_and_exits_1(forge: Forge, here: Path) -> None:
    task(here / "pool", "good")
    assert forge("lint", "-p", "pool").code == 0
    task(here / "pool", "toothless", tests=False)
    said = forge("lint", "-p", "pool")
    assert said.code == 1
    assert "pool/toothless: tests/test.sh: error tests-missing" in said.out
    assert said.out.splitlines()[-1].startswith("2 tasks checked, 1 with errors, ")
    found = forge("lint", "-p", "pool", "--json").json
    assert (found["checked"], found["with_errors"]) == (2, 1)
    assert found["tasks"][1]["findings"][0]["code"] == "tests-missing"


PUBLISHED = Path(__file__).parents[2] / "examples" / "published-pass-rates.json"


def test_the_published_cases(forge: Forge) -> None:
    said = forge("plan", "--pass-rates", str(PUBLISHED), "--scoring", "plug-in", "--json")
    assert said.code == 0
    found = {c["seed_id"]: (c["action"], c["predicted"], c["frontier_score"]) for c in said.json["choices"]}
    increase = {"projection": "increase", "direction": "in_depth"}
    reduce = {"projection": "reduce", "direction": "in_depth"}
    expected = {
        "passes-often": (increase, 0.497, 0.9999),
        "always-passes": (increase, 0.75, 0.4578),
        "never-passes": (reduce, 0.25, 0.4578),
    }
    for seed, (action, predicted, score) in expected.items():
        assert found[seed] == (action, pytest.approx(predicted), pytest.approx(score, abs=5e-5))
    action, predicted, score = found["near-the-frontier"]
    assert (action["projection"], predicted, score) == (
        "diversify",
        pytest.approx(8 / 15),
        pytest.approx(0.9862, abs=5e-5),
    )


def test_plan_takes_a_rate_alone_where_only_the_rate_counts(forge: Forge, here: Path) -> None:
    (here / "rates.json").write_text('[{"id": "a", "pass_rate": 0.747}]')
    said = forge("plan", "--pass-rates", "rates.json", "--scoring", "plug-in", "--json")
    assert said.json["choices"][0]["predicted"] == pytest.approx(0.497)
    said = forge("plan", "--pass-rates", "rates.json", "--scoring", "posterior")
    assert (said.code, said.out) == (2, "")


def test_lint_takes_codes_to_report_and_to_leave_out(forge: Forge, here: Path) -> None:
    task(here / "pool", "toothless", tests=False)
    only = forge("lint", "-p", "pool", "--select", "tests-missing", "--json").json["tasks"][0]["findings"]
    assert [finding["code"] for finding in only] == ["tests-missing"]
    assert forge("lint", "-p", "pool", "--select", "tests-missing", "--ignore", "tests-missing").code == 0
    said = forge("lint", "-p", "pool", "--select", "test-missing")
    assert (said.code, said.out) == (2, "")
    assert "did you mean tests-missing?" in said.err


def test_the_example_config_is_valid_and_complete_enough(forge: Forge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(PUBLISHED.parents[1])
    said = forge("run", "-c", "examples/run.toml", "-l", "2", "--dry-run", "--json")
    assert (said.code, said.json["environments"], len(said.json["seeds"])) == (0, 12, 2)


def test_rates_of_tasks_that_have_changed_are_refused(forge: Forge, here: Path, world: World) -> None:
    forge("measure", "-p", "pool", "-k", "2", "-o", "rates.json", "-q")
    (here / "pool" / "seed-1" / "instruction.md").write_text("Do something else.\n")
    said = forge("plan", "--pass-rates", "rates.json", "-p", "pool")
    assert said.code == 2
    assert "1 tasks, e.g. seed-1, are not what they were when they were measured" in said.err
