from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from envs_forge.bundle.hashing import content_hash
from envs_forge.bundle.reading import read_bundle
from envs_forge.config import RunConfig, make_config
from envs_forge.errors import InfrastructureError, UserError
from envs_forge.ledger.records import AttemptRecord, DecisionRecord, PlanRecord, TrialRecord, VerdictRecord
from envs_forge.ledger.store import Ledger
from envs_forge.pipeline import InterruptedRunError, run
from envs_forge.run.directory import RunDirectory
from envs_forge.run.result import RunResult
from envs_forge.run.stored import read_result
from envs_forge.synthesis.generator import Assignment

from .fakes import World, seeds


def config(**plan: Any) -> RunConfig:
    return make_config({"plan": {"size": 4, **plan}, "rollouts": 2, "retries": 1}, where="test")


def go(root: Path, world: World, settings: RunConfig | None = None, *, pool: int = 4, **more: Any) -> RunResult:
    directory = RunDirectory(root / "run")
    directory.root.mkdir(exist_ok=True)
    found = seeds(root / "pool", pool) if not (root / "pool").exists() else reload(root)
    return run(directory, settings or config(), found, world.parts(), **more)


def reload(root: Path) -> Any:
    from envs_forge.run.seeds import load_seeds

    return load_seeds(sorted((root / "pool").iterdir()))


def records(root: Path) -> Ledger:
    return Ledger.open(root / "run" / "ledger.sqlite", read_only=True)


def exported(root: Path) -> dict[str, Any]:
    lines = (root / "run" / "export" / "index.jsonl").read_text().splitlines()
    return {line["id"]: line for line in map(json.loads, lines)}


def test_exactly_n_are_made_and_every_figure_says_so(tmp_path: Path) -> None:
    result = go(tmp_path, World())
    assert (result.state, result.requested, result.accepted, result.exported) == ("done", 4, 4, 4)
    document = json.loads((tmp_path / "run" / "result.json").read_text())
    assert (document["requested"], document["accepted"], document["exported"]) == (4, 4, 4)
    assert (result.totals.trials, result.totals.attempts, result.totals.rejected) == (8, 4, 0)
    assert result.totals.tokens["policy"].tokens == 8 * 13
    assert result.totals.tokens["generator"].tokens == 4 * 12
    files = {path.name for path in (tmp_path / "run").iterdir()}
    assert {"config.json", "lock.json", "pass-rates.json", "plan.json", "result.json", "ledger.sqlite"} <= files
    assert {"jobs", "candidates", "export"} <= files


def test_the_plan_on_disk_explains_itself(tmp_path: Path) -> None:
    doomed: list[str] = []

    def fate(assignment: Assignment) -> str:
        if not doomed:
            doomed.append(assignment.seed_id)
        return "oracle-failed" if assignment.seed_id == doomed[0] else ""

    world = World()
    world.fate = fate
    go(tmp_path, world, config(size=3), pool=5)
    document = json.loads((tmp_path / "run" / "plan.json").read_text())
    overview = document["overview"]
    assert sum(overview["counts"].values()) == sum(overview["histogram"]) == len(document["choices"]) == 3
    left_out = {seed["seed_id"]: seed["why"] for seed in overview["left_out"]}
    assert (len(left_out), left_out[doomed[0]]) == (2, "no eligible action: forbidden")


def test_the_export_is_what_was_verified_and_knows_where_it_comes_from(tmp_path: Path) -> None:
    result = go(tmp_path, World())
    index = exported(tmp_path)
    tasks = tmp_path / "run" / "export" / "tasks"
    assert sorted(path.name for path in tasks.iterdir()) == sorted(index) == sorted(r.id for r in result.environments)
    for row in result.environments:
        written = read_bundle(tasks / row.id)
        line, table = index[row.id], written.provenance
        assert content_hash(written) == row.content_hash == line["content_hash"] == table["content_hash"]
        assert (table["seed"], table["projection"] + "/" + table["direction"]) == (row.seed, row.action)
        assert (table["seed_k"], table["seed_n"], table["predicted_pass_rate"]) == (row.k, row.n, row.predicted)
        assert table["gold_verdict"] == line["verdict_digest"]
        assert table["parent"] == line["parent_hash"] == content_hash(read_bundle(tmp_path / "pool" / row.seed))


def test_a_rejected_candidate_gets_new_draws_then_its_place_is_planned_again(tmp_path: Path) -> None:
    first: list[str] = []

    def fate(assignment: Assignment) -> str:
        if assignment.slot == 1 and assignment.draw < 2:
            return "oracle-failed"
        if assignment.slot == 2 and not first:
            first.append(assignment.seed_id)
        return "oracle-failed" if assignment.seed_id in first and assignment.slot == 2 else ""

    result = go(tmp_path, World(fate=fate), pool=8)
    assert result.state == "done"
    assert result.rejections == {"oracle/oracle-failed": 5}
    ledger = records(tmp_path)
    attempts = ledger.read(AttemptRecord)
    assert [a.draw for a in attempts if a.slot == 1] == [0, 1, 2]
    assert [(a.plan, a.draw) for a in attempts if a.slot == 2] == [(0, 0), (0, 1), (0, 2), (1, 0)]
    plans = ledger.read(PlanRecord)
    assert [(plan.size, plan.fixed) for plan in plans] == [(4, 0), (4, 3)]
    gave_up, took_over = (next(a for a in attempts if (a.slot, a.plan) == (2, plan)) for plan in (0, 1))
    assert (gave_up.seed_hash, gave_up.action) != (took_over.seed_hash, took_over.action)


def test_rejections_of_the_generator_count_as_draws(tmp_path: Path) -> None:
    result = go(tmp_path, World(fate=lambda a: "refused" if a.draw == 0 else ""))
    assert result.state == "done"
    assert result.rejections == {"synthesis/no-variant": 4}
    assert result.totals.tokens["generator"].completion_tokens == 4 * 1 + 4 * 5


def test_equal_candidates_are_accepted_once_in_the_order_of_the_places(tmp_path: Path) -> None:
    result = go(tmp_path, World(fate=lambda a: "same" if a.draw == 0 and a.slot in (1, 3) else ""))
    assert result.state == "done"
    assert result.rejections == {"duplicate/duplicate": 1}
    (lost,) = records(tmp_path).read(DecisionRecord, accepted=False)
    assert (lost.slot, lost.draw) == (3, 0)
    assert len({row.content_hash for row in result.environments}) == 4


def test_a_candidate_equal_to_a_seed_is_a_duplicate(tmp_path: Path) -> None:
    world = World()
    parts = world.parts()
    found = seeds(tmp_path / "pool", 4)
    real = parts.generator.generate

    def copy_first(assignment: Assignment, parent: Any) -> Any:
        answer = real(assignment, parent)
        return answer.model_copy(update={"bundle": found[0].bundle}) if assignment.draw == 0 else answer

    parts.generator.generate = copy_first  # type: ignore[method-assign]
    directory = RunDirectory(tmp_path / "run")
    directory.root.mkdir()
    assert run(directory, config(), found, parts).rejections == {"duplicate/duplicate": 4}


def test_a_run_that_cannot_reach_n_says_so_and_exports_only_when_told(tmp_path: Path) -> None:
    settings = config(capacity=1)

    def fate(assignment: Assignment) -> str:
        return "build-failed" if assignment.seed_id == "seed-2" else ""

    result = go(tmp_path, World(fate=fate), settings)
    assert (result.state, result.accepted, result.exported) == ("short", 3, 0)
    assert result.rejections == {"oracle/build-failed": 18}
    assert not (tmp_path / "run" / "export").exists()
    result = go(tmp_path, World(fate=fate), settings.model_copy(update={"allow_short": True}))
    assert (result.state, result.accepted, result.exported) == ("short", 3, 3)
    assert len(exported(tmp_path)) == 3


def test_the_machine_spoils_a_verification_and_it_is_tried_again(tmp_path: Path) -> None:
    result = go(tmp_path, World(machine_faults={"001-p0-d0": 1}))
    assert (result.state, result.rejections) == ("done", {})
    verdicts = records(tmp_path).read(VerdictRecord, slot=1)
    assert [(v.retry, v.decision) for v in verdicts] == [(0, "error"), (1, "accepted")]


def test_a_machine_that_keeps_failing_ends_the_run_after_all_else_is_done(tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError, match="001-p0-d0"):
        go(tmp_path, World(machine_faults={"001-p0-d0": 99}))
    found = read_result(RunDirectory(tmp_path / "run"))
    assert (found.state, found.accepted, found.rejections) == ("open", 3, {})
    result = go(tmp_path, World())
    assert (result.state, result.accepted) == ("done", 4)


def test_the_outcome_depends_neither_on_threads_nor_on_the_order_of_the_seeds(tmp_path: Path) -> None:
    def fate(assignment: Assignment) -> str:
        if assignment.draw == 0 and assignment.slot % 2:
            return "same"
        return "weak" if assignment.draw == 1 and assignment.slot == 3 else ""

    outcomes = []
    for number, workers in enumerate((1, 4)):
        root = tmp_path / str(number)
        found = seeds(root / "pool", 6)[:: -1 if number else 1]
        directory = RunDirectory(root / "run")
        directory.root.mkdir()
        result = run(directory, config(size=6), found, World(fate=fate).parts(workers=workers))
        outcomes.append({row.id: row.content_hash for row in result.environments})
    assert outcomes[0] == outcomes[1]


def test_a_stop_keeps_what_is_finished_and_a_resume_finishes(tmp_path: Path) -> None:
    stop = threading.Event()
    world = World()
    world.after = lambda kind: stop.set() if kind == "verify" and world.calls.total() > 13 else None
    with pytest.raises(InterruptedRunError):
        go(tmp_path, world, stop=stop)
    assert world.closed
    assert read_result(RunDirectory(tmp_path / "run")).state == "open"
    again = World()
    assert go(tmp_path, again).state == "done"
    assert_nothing_twice(tmp_path)
    assert not [key for key in again.calls if key.startswith("trial")]


class Crash(BaseException):
    """Stands for the end of the process: nobody catches it on purpose."""


@pytest.mark.parametrize("after", [1, 5, 8, 9, 10, 11, 12, 13, 14, 15])
def test_a_crash_at_any_step_loses_nothing_and_repeats_nothing(tmp_path: Path, after: int) -> None:
    steps = []

    def crash(kind: str) -> None:
        steps.append(kind)
        if len(steps) >= after:
            raise Crash

    with pytest.raises(Crash):
        go(tmp_path, World(after=crash, fate=lambda a: "weak" if a.slot == 0 and a.draw == 0 else ""))
    result = go(tmp_path, World(fate=lambda a: "weak" if a.slot == 0 and a.draw == 0 else ""))
    assert (result.state, result.accepted, result.exported) == ("done", 4, 4)
    assert result.rejections == {"oracle/weak": 1}
    assert_nothing_twice(tmp_path)


def assert_nothing_twice(root: Path) -> None:
    ledger = records(root)
    for kind in (TrialRecord, AttemptRecord, DecisionRecord):
        keys = [record.key for record in ledger.read(kind)]
        assert len(keys) == len(set(keys))
    assert len(ledger.read(TrialRecord)) == 8


def test_a_finished_answer_on_disk_is_not_asked_for_again(tmp_path: Path) -> None:
    world = World()

    def crash(kind: str) -> None:
        if kind == "verify":
            raise Crash

    world.after = crash
    with pytest.raises(Crash):
        go(tmp_path, world)
    (tmp_path / "run" / "ledger.sqlite").unlink()
    for rest in (tmp_path / "run").glob("ledger.sqlite-*"):
        rest.unlink()
    again = World()
    assert go(tmp_path, again).state == "done"
    kept = {key for key in world.calls if key.startswith("generate")}
    assert kept
    assert not kept & again.calls.keys()


@pytest.mark.parametrize(
    ("change", "keys"),
    [
        ({"rollouts": 3}, "rollouts"),
        ({"plan": {"size": 5, "frontier": {"tau": 0.3}}}, "plan.frontier.tau, plan.size"),
    ],
)
def test_a_changed_config_is_refused_by_name(tmp_path: Path, change: dict[str, Any], keys: str) -> None:
    go(tmp_path, World())
    before = (tmp_path / "run" / "result.json").read_bytes()
    changed = make_config({**config().model_dump(mode="json"), **change}, where="test")
    with pytest.raises(UserError, match=f"not as it was when it began: {keys} "):
        go(tmp_path, World(), changed)
    assert (tmp_path / "run" / "result.json").read_bytes() == before


def test_a_changed_seed_is_refused_by_name(tmp_path: Path) -> None:
    go(tmp_path, World())
    (tmp_path / "pool" / "seed-1" / "instruction.md").write_text("Do something else.\n")
    with pytest.raises(UserError, match=r"began: seeds\.seed-1 "):
        go(tmp_path, World())


def test_many_differences_are_not_all_listed(tmp_path: Path) -> None:
    go(tmp_path, World(), pool=12)
    for number in range(12):
        (tmp_path / "pool" / f"seed-{number}" / "instruction.md").write_text(f"Do something else {number}.\n")
    with pytest.raises(UserError, match=r"seeds\.seed-0, .* and 4 more \("):
        go(tmp_path, World())


def test_secrets_do_not_reach_the_files_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-very-secret-value")
    go(tmp_path, World(fate=lambda a: "sk-very-secret-value" if a.draw == 0 else ""))
    texts = [path.read_bytes() for path in (tmp_path / "run").rglob("*.json")]
    assert texts
    assert not [text for text in texts if b"very-secret" in text]


def test_new_values_of_operational_keys_are_taken(tmp_path: Path) -> None:
    go(tmp_path, World())
    assert go(tmp_path, World(), config().model_copy(update={"concurrency": 7})).state == "done"


def test_measuring_alone_stops_at_the_pass_rates(tmp_path: Path) -> None:
    world = World()
    result = go(tmp_path, world, make_config({"goal": "pass-rates", "rollouts": 2}, where="test"))
    assert (result.state, result.requested, len(result.seeds)) == ("done", 0, 4)
    document = json.loads((tmp_path / "run" / "pass-rates.json").read_text())
    assert [(row["id"], row["n"]) for row in document["pass_rates"]] == [(f"seed-{n}", 2) for n in range(4)]
    assert not [key for key in world.calls if key.startswith("generate")]
