"""The whole loop on real containers, from the bundled pool, in processes of their own."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from envs_forge.bundle.reading import read_bundle
from envs_forge.ledger.records import AttemptRecord, DecisionRecord, TrialRecord
from envs_forge.ledger.store import Ledger
from waiting import wait_until

POOL = Path(__file__).parents[2] / "seeds"
SEEDS, ROLLOUTS, N = 5, 2, 3
CODE = "import sys; from envs_forge.cli.app import main; sys.exit(main(sys.argv[1:]))"

pytestmark = pytest.mark.engine


def start(here: Path, *args: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", CODE, *args]
    return subprocess.Popen(command, cwd=here, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def finish(process: subprocess.Popen[str], *, code: int = 0) -> Any:
    out, err = process.communicate(timeout=240)
    assert process.returncode == code, err
    return json.loads(out) if out else err


def begin(here: Path) -> subprocess.Popen[str]:
    args = ["-p", str(POOL), "-l", str(SEEDS), "-k", str(ROLLOUTS), "-N", str(N), "-o", "mine", "--fast", "--json"]
    return start(here, "run", *args)


def check(here: Path, result: dict[str, Any]) -> None:
    """Exactly N, nothing twice, everything where it belongs."""
    assert (result["state"], result["requested"], result["accepted"], result["exported"]) == ("done", N, N, N)
    exported = sorted((here / "mine" / "export" / "tasks").iterdir())
    assert [path.name for path in exported] == sorted(row["id"] for row in result["environments"])
    for path in exported:
        assert read_bundle(path).provenance["gold_verdict"]
    with Ledger.open(here / "mine" / "ledger.sqlite", read_only=True) as ledger:
        counted = [(trial.bundle_hash, trial.number) for trial in ledger.read(TrialRecord, counted=True)]
        assert len(counted) == len(set(counted)) == SEEDS * ROLLOUTS
        for kind in (AttemptRecord, DecisionRecord):
            keys = [record.key for record in ledger.read(kind)]
            assert len(keys) == len(set(keys))


def leftovers(pids: list[int]) -> list[str]:
    """Whatever on this machine still bears the mark of one of these processes."""
    places = [Path("/proc/mounts").read_text(), *_names_under(Path("/sys/fs/cgroup")), *_names_under(Path("/run"))]
    docker = ["docker", "ps", "-a", "--no-trunc", "--format", "{{.Names}} {{.Labels}}"]
    places.append(subprocess.run(docker, capture_output=True, text=True, check=False).stdout)
    lines = [line for text in places for line in text.splitlines()]
    return [line for line in lines for pid in pids if f".{pid}." in line]


def _names_under(root: Path) -> list[str]:
    return [str(Path(place, name)) for place, names, _ in os.walk(root) for name in names]


def test_three_environments_from_five_seeds_and_all_are_gold_again(tmp_path: Path) -> None:
    process = begin(tmp_path)
    check(tmp_path, finish(process))
    again = start(tmp_path, "verify", "-p", "mine/export/tasks", "--fast", "--json")
    verdicts = finish(again)
    assert (verdicts["verified"], verdicts["accepted"]) == (N, N)
    assert leftovers([process.pid, again.pid]) == []


def rows(here: Path, table: str) -> int:
    path = here / "mine" / "ledger.sqlite"
    try:
        with Ledger.open(path, read_only=True) as ledger:
            return len(ledger.query(f"SELECT 1 FROM {table}"))
    except Exception:
        return 0


def test_kill_9_while_measuring_and_while_verifying_then_resume(tmp_path: Path) -> None:
    first = begin(tmp_path)
    wait_until(lambda: rows(tmp_path, "trials") >= 3, first)
    first.send_signal(signal.SIGKILL)
    first.communicate()
    second = start(tmp_path, "resume", "mine", "-q")
    wait_until(lambda: rows(tmp_path, "attempts") >= 2, second)
    second.send_signal(signal.SIGKILL)
    second.communicate()
    last = start(tmp_path, "resume", "mine", "--json")
    check(tmp_path, finish(last))
    assert leftovers([first.pid, second.pid, last.pid]) == []


def test_ctrl_c_twice_leaves_nothing_behind(tmp_path: Path) -> None:
    process = begin(tmp_path)
    wait_until(lambda: rows(tmp_path, "trials") >= 2, process)
    process.send_signal(signal.SIGINT)
    time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    said = finish(process, code=130)
    assert "envs-forge resume mine" in said
    assert leftovers([process.pid]) == []


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_ten_kills_at_random_moments(tmp_path: Path) -> None:
    moments = random.Random(20)
    clock = time.monotonic()
    process = begin(tmp_path)
    check(tmp_path, finish(process))
    whole = time.monotonic() - clock
    for number in range(10):
        here = tmp_path / str(number)
        here.mkdir()
        killed = begin(here)
        time.sleep(moments.uniform(0.05, 1.0) * whole)
        killed.send_signal(signal.SIGKILL)
        killed.communicate()
        there = (here / "mine" / "config.json").exists()
        last = start(here, "resume", "mine", "--json") if there else begin(here)
        check(here, finish(last))
        assert leftovers([killed.pid, last.pid]) == []
