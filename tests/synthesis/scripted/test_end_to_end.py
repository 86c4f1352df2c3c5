"""Seeds to environments over real HTTP and in real containers, with a model that is wrong half of the time."""

from __future__ import annotations

import signal
import subprocess
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from .answers import BAD, BROKEN
from .model import Mix
from .runs import Scripted, check, copy_pool, finish, scripted

FEW = (3, 7, 28, 43, 45, 49)
HELD_OUT = 3
HALF = Mix(good=0.4, bad=0.35, mends=0.65, seed=7)

pytestmark = pytest.mark.engine


Measured = tuple[Path, str]


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> tuple[Scripted, dict[str, Any]]:
    """A whole run, pass rates and all. One of the seeds belongs to an evaluation set."""
    here = tmp_path_factory.mktemp("first")
    with scripted(here, copy_pool(here, FEW), size=4, mix=HALF) as this:
        (held_out,) = this.pool.glob(f"{HELD_OUT:02d}-*")
        return this, finish(this.begin("--against", str(held_out)))


@pytest.fixture
def measured(first: tuple[Scripted, dict[str, Any]]) -> Measured:
    """The seeds of that run, and the line of a config that takes over its pass rates."""
    return first[0].pool, f'pass_rates = "{first[0].here / "mine"}"'


def environments(result: dict[str, Any]) -> list[tuple[str, str, str]]:
    return sorted((row["seed"], row["action"], row["content_hash"]) for row in result["environments"])


def test_exactly_n_are_accepted_none_of_them_bad_and_every_rejection_has_its_reason(
    first: tuple[Scripted, dict[str, Any]],
) -> None:
    told = check(*first, 4)
    assert len({fate.outcome for fate in told}) > 3, "the mix is too tame to show anything"
    assert not any(fate.followed and not fate.given.kind.repairable for fate in told)
    mended = [fate for fate in told if fate.given.asked.repair and not fate.given.kind.outcomes]
    assert mended
    assert all(fate.outcome == "accepted" for fate in mended)


def test_a_seed_of_an_evaluation_set_takes_no_part(first: tuple[Scripted, dict[str, Any]]) -> None:
    this, result = first
    assert len(result["seeds"]) == len(FEW) - 1
    assert not any(given.asked.parent.id.startswith(f"{HELD_OUT:02d}-") for given in this.model.given.values())


def rows(this: Scripted, table: str) -> int:
    try:
        with this.ledger() as ledger:
            return len(ledger.query(f"SELECT 1 FROM {table}"))
    except Exception:
        return 0


def kill_when(this: Scripted, process: subprocess.Popen[str], table: str, count: int) -> bool:
    """Kill a run once a table has so many rows; whether it still ran then."""
    for _ in range(6000):
        if process.poll() is not None:
            return False
        if rows(this, table) >= count:
            process.send_signal(signal.SIGKILL)
            process.communicate()
            return True
        time.sleep(0.02)
    raise AssertionError("it never came to that")


def check_killed(this: Scripted, size: int, moments: Sequence[tuple[str, int]]) -> None:
    """A run that is killed at these moments makes what one makes that is left in peace, and pays nothing twice."""
    whole = finish(this.begin(run="whole"))
    asked = {number: given.sent for number, given in this.model.given.items()}
    process = this.begin()
    killed = 0
    for table, count in moments:
        killed += kill_when(this, process, table, count)
        process = this.start("resume", "mine", "--json")
    assert killed
    result = finish(process)
    assert environments(result) == environments(whole)
    check(this, result, size)
    again = {number: given.sent - asked[number] for number, given in this.model.given.items()}
    assert sum(count > 1 for count in again.values()) <= killed, "only what was under way at a kill is asked again"


def test_the_same_comes_of_a_run_that_was_killed(tmp_path: Path, measured: Measured) -> None:
    pool, rates = measured
    with scripted(tmp_path, pool, size=1, top=f"in_flight = 1\n{rates}", mix=HALF) as this:
        check_killed(this, 1, [("model_answers", 1), ("verdicts", 1)])


def test_a_cap_on_calls_is_kept_to_the_call(tmp_path: Path, measured: Measured) -> None:
    pool, rates = measured
    with scripted(tmp_path, pool, size=2, top=rates, mix=Mix(good=0, bad=0, only=("talk",), mends=0)) as this:
        result = finish(this.begin("--max-calls", "3"), code=1)
        assert (result["state"], result["accepted"]) == ("short", 0)
        assert sum(given.sent for given in this.model.given.values()) == 3
        assert result["totals"]["tokens"]["generator"]["calls"] == 3


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_dozens_of_environments_from_a_model_that_is_mostly_wrong(tmp_path: Path) -> None:
    pool = copy_pool(tmp_path, (*range(3, 40, 2), *range(42, 57, 3)))
    with scripted(tmp_path, pool, size=16, mix=Mix(good=0.25, bad=0.45, mends=0.5, seed=3)) as this:
        told = check(this, finish(this.begin()), 16)
        seen = Counter(fate.given.kind.name for fate in told)
        assert len(seen.keys() & {kind.name for kind in (*BAD, *BROKEN)}) > 12, seen


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_the_same_comes_of_a_run_that_was_killed_at_many_moments(tmp_path: Path, measured: Measured) -> None:
    pool, rates = measured
    mix = Mix(good=0.3, bad=0.4, mends=0.5, seed=11)
    with scripted(tmp_path, pool, size=4, top=f"in_flight = 1\n{rates}", mix=mix) as this:
        check_killed(this, 4, [("model_requests", 3), ("attempts", 2), ("verdicts", 1), ("decisions", 4)])
