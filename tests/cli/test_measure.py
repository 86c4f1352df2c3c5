"""`measure` from outside: what it shows, what it uses again, and how batches end in which something is broken."""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from envs_forge.cli import conduct
from envs_forge.cli.livetable import live_rows
from envs_forge.cli.rates import histogram
from envs_forge.config import RunConfig
from envs_forge.models.client import ModelClient
from envs_forge.rollout.measure import measure
from envs_forge.rollout.policy import Attempt, StopReason
from envs_forge.run.parts import Parts
from envs_forge.run.progress import Phase, Progress
from envs_forge.run.rollouts import adaptive_options, measure_options
from envs_forge.sandbox.images.model import BuildCode, BuildFault
from models.clients import HELLO, PLAIN, endpoint
from models.server import ModelServer, drops, says
from pipeline.fakes import World, seeds
from rollout.fakes import FakePolicy, FakeRuntime, engine_died

from .conftest import Forge

MeasureWith = Callable[..., None]


@pytest.fixture
def measuring(here: Path, monkeypatch: pytest.MonkeyPatch) -> MeasureWith:
    """Puts the real scheduler over a scripted runtime and policy in the place of all parts; six seeds in `pool`."""
    seeds(here / "pool", 6)
    world = World()

    def use(runtime: FakeRuntime, policy: FakePolicy) -> None:
        def parts(config: RunConfig) -> Parts:
            options = measure_options(config, policy.identity).model_copy(update={"pause_s": 0.01, "retries": 1})

            def run(bundles, **more):
                adaptive = adaptive_options(config, len(bundles)) if config.adaptive.enabled else None
                return measure(runtime, bundles, policy, options.model_copy(update={"adaptive": adaptive}), **more)

            return replace(world.parts(), policy=policy.identity, measure=run)

        monkeypatch.setattr(conduct, "open_parts", parts)

    return use


class AskingPolicy(FakePolicy):
    """Asks a model once; a dead endpoint spoils the rollout."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._client = ModelClient("asked", endpoint(url, retries=0), PLAIN)

    def attempt(self, task, sandbox, *, seed):
        answer = self._client.ask(HELLO)
        return Attempt(stopped=StopReason.DONE, prompt_tokens=answer.usage.prompt_tokens, completion_tokens=10)


def test_a_batch_with_a_broken_bundle_and_a_dead_endpoint_ends_with_the_rest_and_the_way_on(
    forge: Forge, measuring: MeasureWith
) -> None:
    alive = 9  # answers, then the endpoint dies
    with ModelServer(lambda body, number: says("ok") if number < alive else drops()) as server:
        runtime = FakeRuntime()
        runtime.build_faults["seed-3"] = BuildFault(code=BuildCode.FAILED, message="step 2 failed")
        measuring(runtime, AskingPolicy(server.url))
        said = forge("measure", "-p", "pool", "-k", "3", "-n", "2", "-q")
        assert said.code == 1
        assert "6 rollouts are missing, the machine or an endpoint spoilt them each time" in said.out
        assert "continue with: envs-forge resume runs/" in said.out
        assert "next:" not in said.out
        status = forge("status", "--json").json
        assert status["state"] == "open"
        assert status["totals"]["trials_by_status"] == {"build-error": 3, "endpoint-error": 12, "passed": 9}
        alive = 1000
        again = forge("resume", "-q", "--json")
        assert again.code == 1  # seed-3 has no rollout that counts, and never will
        assert (again.json["state"], again.json["missing"]) == ("done", 0)
        assert {row["id"]: row["n"] for row in again.json["pass_rates"]} == {f"seed-{n}": 3 for n in (0, 1, 2, 4, 5)}
        assert len(server.requests) == 15 + 12
        assert forge("status", "--json").json["totals"]["tokens"]["policy"]["calls"] == 15


def test_an_endpoint_that_is_gone_for_a_while_costs_nothing(forge: Forge, measuring: MeasureWith) -> None:
    down = range(4, 10)
    with ModelServer(lambda body, number: drops() if number in down else says("ok")) as server:
        measuring(FakeRuntime(), AskingPolicy(server.url))
        said = forge("measure", "-p", "pool", "-k", "3", "-n", "2", "-q", "--json")
        assert said.code == 0
        assert [(row["n"], row["missing"]) for row in said.json["pass_rates"]] == [(3, 0)] * 6
        assert sum(row["invalid"] for row in said.json["pass_rates"]) == 6  # each of them behind all the others
        assert len(server.requests) == 18 + 6


def test_a_machine_that_stays_broken_is_resumed_and_a_broken_policy_is_not(
    forge: Forge, measuring: MeasureWith
) -> None:
    measuring(FakeRuntime({f"seed-{n}": engine_died() for n in range(6)}), FakePolicy())
    said = forge("measure", "-p", "pool", "-k", "1", "-q")
    assert said.code == 1
    assert "none of the 12 rollouts counts (12 machine-error)" in said.err
    assert "envs-forge resume runs/" in said.err
    measuring(FakeRuntime(), FakePolicy(ValueError("no such module")))
    said = forge("measure", "-p", "pool", "-k", "1", "-q")
    assert said.code == 1
    assert "none of the 6 rollouts counts (6 agent-error); the last one: ValueError: no such module" in said.err
    assert "measure again" in said.err
    assert "resume" not in said.err
    measuring(FakeRuntime(), FakePolicy())  # mended: the same command does it
    assert forge("measure", "-p", "pool", "-k", "1", "-q").code == 0


@pytest.fixture
def small_disk(here: Path) -> Iterator[Path]:
    """`runs` on a disk of 2 MiB."""
    runs = here / "runs"
    runs.mkdir()
    if os.getuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "none", str(runs)]).returncode:
        pytest.skip("mounting needs root")
    try:
        yield runs
    finally:
        subprocess.run(["umount", "-l", str(runs)], check=True)


def test_a_full_disk_ends_it_with_the_way_on_and_nothing_is_lost(
    forge: Forge, measuring: MeasureWith, small_disk: Path
) -> None:
    filler = small_disk / "filler"
    ended: list[str] = []

    def attempt(sandbox):
        ended.append(sandbox.name)
        if len(ended) == 8:
            with filler.open("wb") as file:
                file.write(b"x" * os.statvfs(small_disk).f_bavail * os.statvfs(small_disk).f_bsize)
        return Attempt(stopped=StopReason.DONE)

    measuring(FakeRuntime(), FakePolicy(attempt))
    said = forge("measure", "-p", "pool", "-k", "3", "-n", "1", "-q")
    assert said.code == 2
    assert "no space left on the disk" in said.err
    assert "free some space, then continue with: envs-forge resume runs/" in said.err
    filler.unlink()
    again = forge("resume", "-q", "--json")
    assert again.code == 0
    assert [row["n"] for row in again.json["pass_rates"]] == [3] * 6
    assert len(ended) <= 18 + 1  # at most the one that could not be recorded was run twice


def test_rollouts_of_earlier_runs_are_used_again_and_only_the_rest_is_run(forge: Forge, measuring: MeasureWith) -> None:
    runtime = FakeRuntime({"seed-1": 0.0})
    policy = FakePolicy(Attempt(stopped=StopReason.DONE, prompt_tokens=10, completion_tokens=1))
    measuring(runtime, policy)
    forge("measure", "-p", "pool", "-k", "2", "-q")
    said = forge("measure", "-p", "pool", "-k", "3", "-q", "--json")
    assert [(row["n"], row["reused"]) for row in said.json["pass_rates"]] == [(3, 2)] * 6
    assert Counter(what for what, _ in runtime.calls)["verify"] == 12 + 6
    totals = forge("status", "--json").json["totals"]
    assert (totals["trials"], totals["tokens"]["policy"]["calls"]) == (18, 6)
    said = forge("measure", "-p", "pool", "-k", "3", "-q")
    assert Counter(what for what, _ in runtime.calls)["verify"] == 18
    assert "18 of them are from earlier runs (--fresh runs them again)" in said.out
    said = forge("measure", "-p", "pool", "-k", "1", "--fresh", "-q", "--json")
    assert [row["reused"] for row in said.json["pass_rates"]] == [0] * 6
    assert Counter(what for what, _ in runtime.calls)["verify"] == 24
    trajectories = list(Path("runs/latest/jobs").rglob("trajectory.json"))
    assert len(trajectories) == 6


def test_nothing_is_used_again_where_policy_content_or_surroundings_differ(
    forge: Forge, here: Path, measuring: MeasureWith
) -> None:
    runtime = FakeRuntime()
    measuring(runtime, FakePolicy())
    forge("measure", "-p", "pool", "-k", "2", "-q")
    (here / "pool" / "seed-0" / "instruction.md").write_text("Do something else.\n")
    other = FakePolicy()
    other.identity = other.identity.model_copy(update={"settings": {"temperature": 0.7}})
    measuring(runtime, other)
    assert {row["reused"] for row in forge("measure", "-p", "pool", "-q", "--json").json["pass_rates"]} == {0}
    measuring(runtime, FakePolicy())
    found = forge("measure", "-p", "pool", "-k", "2", "-q", "--json").json["pass_rates"]
    assert {row["id"]: row["reused"] for row in found} == {"seed-0": 0, **{f"seed-{n}": 2 for n in range(1, 6)}}
    found = forge("measure", "-p", "pool", "-k", "2", "-q", "--json", "--no-network").json["pass_rates"]
    assert {row["reused"] for row in found} == {0}


def test_what_counts_is_configured_and_said(forge: Forge, here: Path, measuring: MeasureWith) -> None:
    measuring(FakeRuntime({"seed-0": 0.5}), FakePolicy(Attempt(stopped=StopReason.CONTEXT)))
    assert forge("measure", "-p", "pool", "-k", "2", "-q").code == 1
    (here / "forge.toml").write_text('count = ["context-exceeded"]\n')
    said = forge("measure", "-p", "pool", "-k", "2", "-q", "-c", "forge.toml")
    assert said.code == 0
    assert "n counts: passed, partial, failed, context-exceeded" in said.out
    assert "12 of them are from earlier runs" in said.out  # the verdicts were there, and now they count
    assert "rollouts: 12 context-exceeded" in said.out


def test_adaptive_rollouts_keep_their_budget(forge: Forge, measuring: MeasureWith) -> None:
    measuring(
        FakeRuntime({f"seed-{n}": lambda call, n=n: float(call.tries % (n + 1) == 0) for n in range(6)}), FakePolicy()
    )
    said = forge("measure", "-p", "pool", "--adaptive", "--budget", "24", "--cap", "7", "-q", "--json")
    assert said.code == 0
    spread = [row["n"] for row in said.json["pass_rates"]]
    assert sum(spread) <= 24
    assert min(spread) == 3
    assert max(spread) <= 7
    assert len(set(spread)) > 1
    for flags, words in ((["--cap", "3"], "--cap needs --adaptive"), (["--adaptive", "-k", "3"], "-k has no say")):
        refused = forge("measure", "-p", "pool", *flags)
        assert refused.code == 2
        assert words in refused.err


def test_the_histogram_shows_the_ends_apart() -> None:
    lines = histogram([0.0, 0.0, 0.05, 0.5, 0.55, 0.999, 1.0])
    counts = {line[:10].strip(): line.rsplit(" ", 1)[-1] for line in lines[1:]}
    assert counts == {
        "0": "2", "0.0 to 0.1": "1", "0.5 to 0.6": "2", "0.9 to 1.0": "1", "1": "1",
        **{f"0.{n} to 0.{n + 1}": f"0.{n + 1}" for n in (1, 2, 3, 4, 6, 7, 8)},
    }  # fmt: skip
    assert histogram([]) == []


def test_the_live_table_fits_and_shows_what_is_under_way_first() -> None:
    progress = Progress()
    rows = live_rows(progress)
    assert rows(80, 20) == ()
    progress.enter(Phase.MEASURING, total=6)
    progress.seeds_are({"a": "done", "b": "evil\x1b[2J", "c": "waits"}, asked=2)
    for digest, reward in (("a", 1.0), ("a", 0.0), ("b", None), ("b", 0.5)):
        progress.note_trial(digest, "x" if reward is None else "passed", reward)
    table = rows(80, 20)
    assert [row.split()[0] for row in table] == ["seed", "evil?[2J", "waits", "done"]
    assert "0.5/1" in table[1]
    assert "1 of 2, 1 not counted" in table[1]
    assert "0.06 to 0.94" in table[3]
    assert "\x1b" not in "".join(table)
    assert rows(80, 4)[-1] == "and 1 more"
    assert rows(80, 2) == ()
