"""Each deed once in a container, audits, faults that are no reward, and a store that lasts."""

from __future__ import annotations

import contextlib
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from envs_forge.bundle.model import Bundle
from envs_forge.errors import UserError
from envs_forge.rollout.trial import TrialStatus
from envs_forge.train.rewards.containers import Outcome
from envs_forge.train.rewards.deed import Deed
from envs_forge.train.rewards.source import Rewards, StoppedError
from envs_forge.train.rewards.store import RewardStore

from ..builtin.truth import pool


class Machine:
    """Rewards by the first command: its number, None for a fault. Counts what it runs."""

    def __init__(self) -> None:
        self.ran: Counter[tuple[str, str]] = Counter()
        self.status = TrialStatus.PASSED
        self.lies = 0.0

    def __call__(self, deed: Deed) -> Outcome:
        self.ran[deed.key] += 1
        if deed.commands[0] == "fault":
            return Outcome(reward=None, status=TrialStatus.MACHINE_ERROR, error="disk", lasting=False, duration_s=0)
        reward = abs(float(deed.commands[0]) - self.lies)
        lasting = self.status is not TrialStatus.AGENT_TIMEOUT
        return Outcome(reward=reward, status=self.status, lasting=lasting, duration_s=0)


@pytest.fixture
def bundle() -> Bundle:
    return pool(0, 1)[0].bundle


def deed(bundle: Bundle, *commands: str) -> Deed:
    return Deed(bundle, "hash", commands)


def test_equal_deeds_take_one_container(tmp_path: Path, bundle: Bundle) -> None:
    machine = Machine()
    with RewardStore(tmp_path / "r.sqlite") as store:
        rewards = Rewards(machine, store, audit_one_in=10**9)
        asked = [deed(bundle, "1"), deed(bundle, "0", "x"), deed(bundle, "1")]
        assert rewards.of(asked) == [1.0, 0.0, 1.0]
        assert rewards.of(asked[:1]) == [1.0]
    assert set(machine.ran.values()) == {1}
    counts = rewards.counts
    assert (counts.asked, counts.contained, counts.remembered, counts.invalid) == (4, 2, 2, 0)


def test_what_failed_is_remembered_with_the_reward(tmp_path: Path, bundle: Bundle) -> None:
    def obtain(deed: Deed) -> Outcome:
        failed = ("1. a: b", "2. ü")
        return Outcome(reward=0.0, status=TrialStatus.FAILED, lasting=True, duration_s=0, failed=failed)

    done = deed(bundle, "x")
    with RewardStore(tmp_path / "r.sqlite") as store:
        Rewards(obtain, store).of([done])
    with RewardStore(tmp_path / "r.sqlite") as store:
        again = Rewards(obtain, store)
        assert again.failed(done) == ("1. a: b", "2. ü")
        assert again.failed(deed(bundle, "y")) == ()
    assert Rewards(obtain, None).failed(done) == ()


def test_rewards_from_before_failed_tests_were_kept_stay_good(tmp_path: Path, bundle: Bundle) -> None:
    path, done = tmp_path / "r.sqlite", deed(bundle, "1")
    with RewardStore(path) as store:
        Rewards(Machine(), store).of([done])
    with contextlib.closing(sqlite3.connect(path)) as old:
        old.execute("ALTER TABLE rewards DROP COLUMN failed")
        old.commit()
    with RewardStore(path) as store:
        again = Rewards(Machine(), store, audit_one_in=10**9)
        assert again.of([done, deed(bundle, "0")]) == [1.0, 0.0]
        assert (again.counts.remembered, again.failed(done)) == (1, ())


def test_without_a_store_every_deed_is_done(bundle: Bundle) -> None:
    machine = Machine()
    rewards = Rewards(machine, None)
    assert rewards.of([deed(bundle, "1")] * 3) == [1.0] * 3
    assert machine.ran.total() == rewards.counts.contained == 3


def test_rewards_outlive_the_process(tmp_path: Path, bundle: Bundle) -> None:
    with RewardStore(tmp_path / "r.sqlite") as store:
        Rewards(Machine(), store).of([deed(bundle, "1")])
    machine = Machine()
    with RewardStore(tmp_path / "r.sqlite") as store:
        assert len(store) == 1
        assert Rewards(machine, store, audit_one_in=10**9).of([deed(bundle, "1")]) == [1.0]
    assert not machine.ran


def test_a_fault_is_no_reward_and_is_not_remembered(tmp_path: Path, bundle: Bundle) -> None:
    machine = Machine()
    with RewardStore(tmp_path / "r.sqlite") as store:
        rewards = Rewards(machine, store)
        assert rewards.of([deed(bundle, "fault"), deed(bundle, "1")]) == [None, 1.0]
        assert rewards.of([deed(bundle, "fault")]) == [None]
        assert len(store) == 1
    assert machine.ran[deed(bundle, "fault").key] == 2
    assert (rewards.counts.invalid, rewards.last_error) == (2, "machine-error: disk")


def test_a_time_out_counts_but_is_not_remembered(tmp_path: Path, bundle: Bundle) -> None:
    machine = Machine()
    machine.status = TrialStatus.AGENT_TIMEOUT
    with RewardStore(tmp_path / "r.sqlite") as store:
        assert Rewards(machine, store).of([deed(bundle, "0.5")]) == [0.5]
        assert len(store) == 0


def test_the_audit_does_a_chosen_deed_once_more_and_reports_what_differs(tmp_path: Path, bundle: Bundle) -> None:
    machine = Machine()
    with RewardStore(tmp_path / "r.sqlite") as store:
        rewards = Rewards(machine, store, audit_one_in=1)
        rewards.of([deed(bundle, "1"), deed(bundle, "0")])
        machine.lies = 1.0
        assert rewards.of([deed(bundle, "1")]) == [1.0]  # what was kept stays: training must not depend on the audit
        machine.lies = 0.0
        assert rewards.of([deed(bundle, "0"), deed(bundle, "1")]) == [0.0, 1.0]
        assert (rewards.counts.audits, rewards.counts.mismatches) == (2, 1)
        assert store.audited() == (2, [deed(bundle, "1").key])
    assert set(machine.ran.values()) == {2}


def test_about_one_deed_in_a_hundred_is_chosen(tmp_path: Path, bundle: Bundle) -> None:
    deeds = [deed(bundle, "1", str(number)) for number in range(3000)]
    with RewardStore(tmp_path / "r.sqlite") as store:
        rewards = Rewards(Machine(), store)
        rewards.of(deeds)
        rewards.of(deeds)
    assert 15 <= rewards.counts.audits <= 50


def test_two_processes_that_got_the_same_deed_are_compared(tmp_path: Path) -> None:
    with RewardStore(tmp_path / "r.sqlite") as one, RewardStore(tmp_path / "r.sqlite") as other:
        assert one.put(("b", "c"), 1.0, engine="oci", duration_s=0.1) == 1.0
        assert other.put(("b", "c"), 0.0, engine="oci", duration_s=0.1) == 1.0
        assert other.audited() == (1, [("b", "c")])


OPENS = """
import sys, time
from pathlib import Path
from envs_forge.train.rewards.store import RewardStore

for number in range(150):
    while time.time() < float(sys.argv[2]) + number / 100:
        pass
    RewardStore(Path(sys.argv[1]) / f"{number}.sqlite").close()
"""


def test_processes_that_open_a_new_file_at_once_wait_for_each_other(tmp_path: Path) -> None:
    command = [sys.executable, "-c", OPENS, str(tmp_path), str(time.time() + 2)]
    with contextlib.ExitStack() as stack:
        running = [stack.enter_context(subprocess.Popen(command, stderr=subprocess.PIPE, text=True)) for _ in range(4)]
        assert [process.communicate(timeout=120)[1] for process in running] == [""] * 4


def test_a_stop_begins_no_further_container_and_keeps_what_is_there(tmp_path: Path, bundle: Bundle) -> None:
    stop = threading.Event()
    machine = Machine()

    def obtain(deed: Deed) -> Outcome:
        stop.set()
        return machine(deed)

    with RewardStore(tmp_path / "r.sqlite") as store:
        rewards = Rewards(obtain, store, workers=1, stop=stop)
        with pytest.raises(StoppedError):
            rewards.of([deed(bundle, "1"), deed(bundle, "0")])
        assert len(store) == machine.ran.total() == 1


def test_a_file_that_is_something_else_is_the_users_mistake(tmp_path: Path) -> None:
    (tmp_path / "r.sqlite").write_text("not a database, but long enough to be read as one" * 10)
    with pytest.raises(UserError, match="does not hold rewards"):
        RewardStore(tmp_path / "r.sqlite")
