from __future__ import annotations

import json
from pathlib import Path

import pytest

from envs_forge.cli.quota import parse_quotas
from envs_forge.errors import UserError
from envs_forge.plan.model import ACTIONS
from envs_forge.plan.settings import FrontierConfig
from envs_forge.plan.transition.learn import learn
from envs_forge.plan.transition.model import Child

from .conftest import Forge
from .test_commands import PUBLISHED

SKILLED = """\
id,k,n,skills
a,4,8,operation/join tool/awk
b,4,8,operation/join tool/awk
c,1,8,operation/top-k tool/sort
d,0,8,operation/top-k;constraint/ties
"""


@pytest.fixture
def rates(here: Path) -> str:
    (here / "rates.csv").write_text(SKILLED)
    return "rates.csv"


def test_it_shows_choices_counts_histogram_and_what_is_left_out(forge: Forge) -> None:
    said = forge("plan", "--pass-rates", str(PUBLISHED), "-N", "3", "--scoring", "plug-in")
    lines = said.out.splitlines()
    assert lines[0].split() == ["seed", "k/n", "action", "predicted", "F", "regret", "mixed"]
    cells = [line.split()[:5] for line in lines]
    assert ["passes-often", "747/1000", "increase/in_depth", "0.497", "0.9999"] in cells
    assert any(line.startswith("actions: ") and "increase/in_depth" in line for line in lines)
    bars = lines[lines.index("predicted pass rates:") + 1 :][:10]
    assert sum(int(bar.split()[3]) for bar in bars) == 3
    assert bars[4].split() == ["0.4", "to", "0.5", "1", "#"]
    assert any(line.startswith("3 draws, objective") for line in lines)
    assert any(line.startswith("one more draw would add about 0.4") for line in lines)
    assert "1 seed left out:" in lines
    assert "no more than the last place" in lines[lines.index("1 seed left out:") + 1]


def test_it_shows_quotas_met_and_short_with_their_prices(forge: Forge, rates: str) -> None:
    said = forge("plan", "--pass-rates", rates, "-N", "2", "--quota", "operation/top-k=1", "--quota", "tool/jq=1")
    lines = said.out.splitlines()
    assert any(line.startswith("quotas: 1 met, 1 short") for line in lines)
    rows = {line.split()[0]: line.split()[1:] for line in lines if line.startswith(("operation/", "tool/"))}
    assert rows["tool/jq"][:5] == ["1", "0", "0", "1", "0"]
    assert "quotas beyond what the pool can give: tool/jq (1 asked, 0 reachable)" in lines


def test_the_document_holds_all_of_it(forge: Forge, here: Path, rates: str) -> None:
    said = forge("plan", "--pass-rates", rates, "-N", "2", "-o", "plan.json", "--explain", "d", "--json")
    assert said.json == json.loads((here / "plan.json").read_text())
    overview, one = said.json["overview"], said.json["explanation"]
    assert sum(overview["counts"].values()) == sum(overview["histogram"]) == 2
    assert {chosen["seed_id"] for chosen in overview["chosen"]} | {s["seed_id"] for s in overview["left_out"]} == set(
        "abcd"
    )
    assert [len(one["candidates"]), one["seed_id"]] == [6, "d"]
    assert said.json["scoring"] == "posterior"


def test_an_explanation_names_prices_and_the_reason(forge: Forge, rates: str) -> None:
    said = forge("plan", "--pass-rates", rates, "-N", "2", "--quota", "operation/top-k=2", "--explain", "c")
    assert "c, 1/8: its best action" in said.out
    head = next(line for line in said.out.splitlines() if line.startswith("action "))
    assert "quotas pay" in head
    assert "not eligible" in head


def test_flags_choose_solver_arm_and_slack(forge: Forge, here: Path, rates: str) -> None:
    greedy = forge("plan", "--pass-rates", rates, "-N", "2", "--solver", "greedy", "--json").json
    assert (greedy["method"], greedy["arm"]) == ("greedy", "masked")
    blind = forge("plan", "--pass-rates", rates, "-N", "2", "--arm", "blind", "--recipe", "few-shot", "--json").json
    assert (blind["method"], blind["recipe"]) == ("blind", "few-shot")
    said = forge("plan", "--pass-rates", rates, "-N", "2", "--quota", "tool/jq=2", "--slack-cap", "0.2")
    assert (said.code, said.out) == (2, "")
    assert "tool/jq (short by 2 more than allowed)" in said.err


def test_an_ablation_says_what_it_is(forge: Forge, rates: str) -> None:
    said = forge("plan", "--pass-rates", rates, "-N", "2", "--solver", "argmax")
    assert "argmax is an ablation" in said.out
    said = forge("plan", "--pass-rates", rates, "-N", "2", "--arm", "blind")
    assert "the blind arm takes seeds in random order" in said.out


def test_quotas_of_flags_replace_those_of_the_config(forge: Forge, here: Path, rates: str) -> None:
    (here / "run.toml").write_text('[plan]\nquotas = "uniform"\n')
    config = forge("plan", "--pass-rates", rates, "-N", "4", "-c", "run.toml", "--json").json
    assert len({quota["asked"] for quota in config["quotas"]}) == 1
    assert len(config["quotas"]) > 3
    flags = forge("plan", "--pass-rates", rates, "-N", "4", "-c", "run.toml", "--quota", "tool/awk=0.5", "--json").json
    assert [(quota["skill"], quota["asked"]) for quota in flags["quotas"]] == [("tool/awk", 2)]


@pytest.mark.parametrize(
    ("quota", "complaint"),
    [
        ("operation/jion=1", "operation/jion (did you mean operation/join?)"),
        ("operation/join", "no quota"),
        ("operation/join=many", "'many' is not a number"),
        ("operation/join=1.5", "operation/join = 1.5"),
        ("operation/join=-1", "operation/join = -1.0"),
    ],
)
def test_a_quota_that_makes_no_sense_is_one_line(forge: Forge, rates: str, quota: str, complaint: str) -> None:
    said = forge("plan", "--pass-rates", rates, "--quota", quota)
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert complaint in said.err


def test_quotas_without_known_skills_are_refused(forge: Forge) -> None:
    said = forge("plan", "--pass-rates", str(PUBLISHED), "--quota", "operation/join=1")
    assert said.code == 2
    assert "give the tasks with -p" in said.err


def test_quotas_as_written() -> None:
    assert parse_quotas([]) is None
    assert parse_quotas(["uniform"]) == "uniform"
    assert parse_quotas(["tool/awk = 3", "domain/logs=0.25"]) == {"tool/awk": 3.0, "domain/logs": 0.25}
    with pytest.raises(UserError, match="stands alone"):
        parse_quotas(["uniform", "tool/awk=3"])
    with pytest.raises(UserError, match="given twice"):
        parse_quotas(["tool/awk=3", "tool/awk=4"])


NAMES = "id,k,n\n07-tally-logs,1,4\n08-Sort-Logs,1,4\n09-merge-json,1,4\n"
BAD = [
    ("nan.csv", "id,k,n\na,nan,4\nb,1,4\n", [], "the rate is not a number: row 1"),
    ("empty.csv", "id,k,n\na,1,4\nb,0,0\n", [], "n = 0: row 2"),
    ("over.csv", "id,k,n\na,5,4\nb,1,4\n", [], "the rate is not in [0, 1]: row 1"),
    ("under.csv", "id,rate,n\na,-0.1,4\n", [], "the rate is not in [0, 1]: row 1"),
    ("twice.csv", "id,k,n\na,1,4\nb,1,4\na,2,4\n", [], "the same id more than once: rows 1 (a), 3 (a)"),
    ("skills.csv", "id,k,n,skills\na,1,4,tool/awk\nb,1,4,tool/akw\n", [], "unknown skills tool/akw: row 2"),
    ("alone.csv", "id,rate\na,0.5\n", [], "no n (only plug-in scoring"),
    ("fine.csv", "id,k,n\na,1,4\n", ["-N", "0"], "size must be at least 1, not 0"),
    ("fine.csv", "id,k,n\na,1,4\n", ["--tau", "1.5"], "tau: input should be less than or equal to 1"),
    ("fine.csv", "id,k,n\na,1,4\n", ["--explain", "b"], "there is no seed b in the pool (name one of its 1 seeds)"),
    ("fine.csv", NAMES, ["--explain", "logs"], "in the pool (did you mean 07-tally-logs or 08-Sort-Logs?)"),
    ("fine.csv", NAMES, ["--explain", "09-mege-json"], "in the pool (did you mean 09-merge-json?)"),
    ("fine.csv", "id,k,n\na,1,4\n", ["-c", "run.toml", "-N", "3"], "3 draws were asked for"),
    ("plain.txt", "a 1 4\n", [], "unknown kind of file"),
]


@pytest.mark.parametrize(("name", "text", "flags", "complaint"), BAD)
def test_input_that_makes_no_sense_is_one_line(
    forge: Forge, here: Path, name: str, text: str, flags: list[str], complaint: str
) -> None:
    (here / name).write_text(text)
    (here / "run.toml").write_text("[plan]\ncapacity = 2\n")
    said = forge("plan", "--pass-rates", name, *flags)
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert complaint in said.err


def test_rows_that_fit_no_task_are_named_and_a_task_measured_twice_is_refused(forge: Forge, here: Path) -> None:
    from run.test_seeds import task

    for name in ("one", "two"):
        task(here / "pool", name, text=f"Make {name}.\n")
    (here / "r.csv").write_text("id,k,n\none,1,4\nthree,1,4\n")
    said = forge("plan", "-p", "pool", "--pass-rates", "r.csv", "--generator", "llm")
    assert "tasks without a pass rate, left out (1): two" in said.err
    assert "pass rates that belong to none of the tasks, left out (1): row 2 (three)" in said.err
    assert (said.code, said.out.splitlines()[1].split()[0]) == (0, "one")
    (here / "r.json").write_text(json.dumps([{"id": "one", "k": 1, "n": 4}, {"id": "one ", "k": 1, "n": 4}]))
    assert "more than once" in forge("plan", "-p", "pool", "--pass-rates", "r.json").err


def test_a_pool_that_is_drawn_out_has_no_next_draw(forge: Forge, rates: str) -> None:
    said = forge("plan", "--pass-rates", rates, "-N", "4")
    assert "one more draw is not possible: every eligible seed is drawn as often as it may be" in said.out
    more = forge("plan", "--pass-rates", rates, "-N", "9")
    assert "N = 9 exceeds the eligible seeds: up to 3 draws of each" in more.out


@pytest.mark.parametrize("solver", ["milp", "greedy", "argmax"])
def test_each_solver_names_itself_with_its_gap_and_time(forge: Forge, rates: str, solver: str) -> None:
    said = forge("plan", "--pass-rates", rates, "-N", "2", "--solver", solver, "--quota", "operation/top-k=2")
    line = next(line for line in said.out.splitlines() if line.startswith("2 draws, objective"))
    assert f"of ΣF); {solver}, " in line


def test_what_a_file_of_calibrate_says_of_one_action_counts(forge: Forge, here: Path, rates: str) -> None:
    children = [Child(ACTIONS[-1], 0, 8, 6, 8, 0.2)] * 40
    learned = learn(children, FrontierConfig())
    (here / "learned.json").write_text(learned.model_dump_json())
    said = forge("plan", "--pass-rates", rates, "-N", "2", "--transition", "learned.json", "--explain", "d", "--json")
    own = {str(each["action"]): each["predicted"] for each in said.json["explanation"]["candidates"]}
    assert own[str(ACTIONS[-1])] == pytest.approx(learned.actions[str(ACTIONS[-1])].mean, abs=1e-3)
    assert own[str(ACTIONS[-1])] > own["reduce/in_depth"]
