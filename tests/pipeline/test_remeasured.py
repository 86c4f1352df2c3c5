"""The policy on verified candidates: what counts, what is the machine's fault, and candidates that are equal."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from envs_forge.bundle.model import Bundle
from envs_forge.config import make_config
from envs_forge.errors import InfrastructureError
from envs_forge.ledger.records import DecisionRecord, TrialRecord
from envs_forge.ledger.store import Ledger
from envs_forge.pipeline import run
from envs_forge.rollout.pool import Pool
from envs_forge.rollout.trial import PassRate, Trial, TrialStatus
from envs_forge.run.checks import band_check
from envs_forge.run.directory import RunDirectory
from envs_forge.run.result import RunResult
from envs_forge.run.seeds import load_seeds

from .fakes import IDENTITY, FakeMeasure, World, seeds

ROLLOUTS = 4
Ends = Callable[[int, int], TrialStatus]
"""By the number of a rollout and of the try at it, how it ends."""


@dataclass
class Ending(FakeMeasure):
    """Rollouts on candidates that end as told, with what is missing counted as the real measurement does."""

    ends: Ends = lambda index, retry: TrialStatus.PASSED

    def __call__(
        self,
        bundles: Sequence[Bundle],
        *,
        known: Iterable[Trial],
        on_trial: Callable[[Trial, Bundle], None],
        stop: threading.Event,
    ) -> list[PassRate]:
        pool = Pool(bundles, IDENTITY, known)
        for entry in pool.entries:
            entry.asked = self.rollouts
            for index in entry.missing():
                retry = entry.next_retry(index)
                status = self.ends(index, retry)
                reward = {TrialStatus.PASSED: 1.0, TrialStatus.FAILED: 0.0}.get(status)
                ended = {"retry": retry, "status": status, "reward": reward}
                trial = self.trial(entry.bundle, index).model_copy(update=ended)
                entry.trials.append(trial)
                on_trial(trial, entry.bundle)
        return pool.pass_rates()


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("envs_forge.run.attempts._PAUSE_S", 0.0)


def go(
    root: Path,
    world: World,
    remeasure: FakeMeasure,
    *,
    band: tuple[float, float] | None = None,
    size: int = 1,
    retries: int = 0,
    draws: int = 1,
) -> RunResult:
    directory = RunDirectory(root / "run")
    directory.root.mkdir(exist_ok=True)
    pool = root / "pool"
    found = load_seeds(sorted(pool.iterdir())) if pool.exists() else seeds(pool, 3)
    table = {"plan": {"size": size}, "rollouts": 2, "retries": retries, "remeasure": ROLLOUTS, "band": band}
    table["draws"] = draws
    parts = replace(world.parts(), remeasure=remeasure, in_band=band_check(band))
    return run(directory, make_config(table, where="test"), found, parts)


def ledger(root: Path) -> Ledger:
    return Ledger.open(root / "run" / "ledger.sqlite", read_only=True)


OWN_FAULTS = [
    TrialStatus.AGENT_ERROR,
    TrialStatus.CONTEXT_EXCEEDED,
    TrialStatus.VERIFIER_ERROR,
    TrialStatus.BUILD_ERROR,
]


@pytest.mark.parametrize("status", OWN_FAULTS)
def test_with_a_band_a_child_on_which_no_rollout_counts_is_rejected(tmp_path: Path, status: TrialStatus) -> None:
    world = World()
    result = go(tmp_path, world, Ending(world, ROLLOUTS, lambda index, retry: status), band=(0.1, 0.9))
    assert (result.state, result.accepted) == ("short", 0)
    assert set(result.rejections) == {"band/unmeasured"}
    first = ledger(tmp_path).read(DecisionRecord)[0]
    assert (first.payload["k"], first.payload["n"], first.payload["measured"]) == (0, 0, None)
    assert f"none of the agent's tries counts ({ROLLOUTS} {status.value})" in first.payload["evidence"]


@pytest.mark.parametrize("status", OWN_FAULTS)
def test_without_a_band_it_is_accepted_and_known_to_be_unmeasured(tmp_path: Path, status: TrialStatus) -> None:
    world = World()
    result = go(tmp_path, world, Ending(world, ROLLOUTS, lambda index, retry: status))
    assert (result.state, result.accepted) == ("done", 1)
    assert [(row.measured_k, row.measured_n) for row in result.environments] == [(0.0, 0)]


@pytest.mark.parametrize("status", [TrialStatus.ENDPOINT_ERROR, TrialStatus.MACHINE_ERROR])
@pytest.mark.parametrize("band", [None, (0.1, 0.9)])
def test_part_of_a_measurement_decides_nothing(
    tmp_path: Path, status: TrialStatus, band: tuple[float, float] | None
) -> None:
    def down(index: int, retry: int) -> TrialStatus:
        return status if index else TrialStatus.FAILED

    def up(index: int, retry: int) -> TrialStatus:
        return TrialStatus.PASSED if index else TrialStatus.FAILED

    world = World()
    with pytest.raises(InfrastructureError, match=rf"3 rollouts on it are lost \(3 {status.value}, 1 failed\)"):
        go(tmp_path, world, Ending(world, ROLLOUTS, down), band=band)
    assert not ledger(tmp_path).read(DecisionRecord)
    result = go(tmp_path, world, Ending(world, ROLLOUTS, up), band=band)
    assert (result.state, result.rejections) == ("done", {})
    assert [(row.measured_k, row.measured_n) for row in result.environments] == [(3.0, 4)]
    assert len(ledger(tmp_path).read(TrialRecord, purpose="child")) == 7


def test_a_rollout_that_the_machine_spoils_once_is_run_again_in_the_same_session(tmp_path: Path) -> None:
    def ends(index: int, retry: int) -> TrialStatus:
        return TrialStatus.MACHINE_ERROR if index == 1 and not retry else TrialStatus.PASSED

    world = World()
    result = go(tmp_path, world, Ending(world, ROLLOUTS, ends), retries=1)
    assert [(row.measured_k, row.measured_n) for row in result.environments] == [(4.0, 4)]


@dataclass
class Slow(Ending):
    """Tells how many measurements of one content were under way at once."""

    inside: int = 0
    most: int = 0

    def trial(self, one: Bundle, index: int) -> Trial:
        with self.world.lock:
            self.inside += 1
            self.most = max(self.most, self.inside)
        time.sleep(0.02)
        with self.world.lock:
            self.inside -= 1
        return super().trial(one, index)


def test_equal_candidates_at_two_places_share_their_rollouts_and_the_lower_place_wins(tmp_path: Path) -> None:
    both = threading.Barrier(2)

    def meet(kind: str) -> None:
        if kind == "verify" and not both.broken:
            with contextlib.suppress(threading.BrokenBarrierError):
                both.wait(30)
            both.abort()

    world = World(fate=lambda assignment: "" if assignment.draw else "same", after=meet)
    slow = Slow(world, ROLLOUTS)
    result = go(tmp_path, world, slow, size=2, draws=2)
    assert (result.state, result.rejections) == ("done", {"duplicate/duplicate": 1})
    assert slow.most == 1
    trials = ledger(tmp_path).read(TrialRecord, purpose="child")
    assert len({trial.bundle_hash for trial in trials}) == 2
    assert len(trials) == 2 * ROLLOUTS
    (lost,) = [row for row in ledger(tmp_path).read(DecisionRecord) if not row.accepted]
    assert (lost.slot, lost.draw) == (1, 0)
    assert [row.measured_n for row in result.environments] == [ROLLOUTS, ROLLOUTS]
