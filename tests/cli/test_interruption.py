"""Signals and kills, in processes of their own."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from envs_forge.ledger.records import AttemptRecord, DecisionRecord, TrialRecord
from envs_forge.ledger.store import Ledger
from pipeline.fakes import seeds
from waiting import wait_until

PROGRAM = Path(__file__).with_name("fake_program.py")
N = 5


@pytest.fixture
def here(tmp_path: Path) -> Path:
    seeds(tmp_path / "pool", N)
    return tmp_path


def start(here: Path, *args: str, pause: float = 0.1, **more: object) -> subprocess.Popen[str]:
    command = [sys.executable, str(PROGRAM), str(pause), *args]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
    return subprocess.Popen(command, cwd=here, text=True, **pipes)  # type: ignore[call-overload, no-any-return]


def run(here: Path) -> subprocess.Popen[str]:
    return start(here, "run", "-p", "pool", "-N", str(N), "-k", "2", "-o", "mine")


def rows(here: Path, table: str) -> int:
    path = here / "mine" / "ledger.sqlite"
    if not path.exists():
        return 0
    try:
        with Ledger.open(path, read_only=True) as ledger:
            return len(ledger.query(f"SELECT 1 FROM {table}"))
    except Exception:
        return 0


def finish(here: Path) -> None:
    """Resume and check that nothing is missing and nothing there twice."""
    resumed = start(here, "resume", "mine", "--json", "-q", pause=0)
    out, err = resumed.communicate(timeout=60)
    assert resumed.returncode == 0, err
    assert '"accepted": 5' in out
    with Ledger.open(here / "mine" / "ledger.sqlite", read_only=True) as ledger:
        assert len(ledger.read(TrialRecord)) == 2 * N
        for kind in (TrialRecord, AttemptRecord, DecisionRecord):
            keys = [record.key for record in ledger.read(kind)]
            assert len(keys) == len(set(keys))
    assert len(list((here / "mine" / "export" / "tasks").iterdir())) == N


@pytest.mark.parametrize("table", ["trials", "verdicts"])
def test_ctrl_c_twice_ends_cleanly_with_the_command_that_goes_on(here: Path, table: str) -> None:
    process = run(here)
    wait_until(lambda: rows(here, table) > 1, process)
    process.send_signal(signal.SIGINT)
    time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert out == ""
    assert err.splitlines()[-1] == (
        "Error: interrupted, everything finished is kept (continue with: envs-forge resume mine)"
    )
    assert "Traceback" not in err
    assert '"state": "open"' in (here / "mine" / "result.json").read_text()
    finish(here)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_other_signals_are_heeded_as_well(here: Path, number: signal.Signals) -> None:
    process = run(here)
    wait_until(lambda: rows(here, "trials") > 1, process)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "envs-forge resume mine" in err


@pytest.mark.parametrize(("table", "count"), [("sessions", 1), ("trials", 3), ("plans", 1), ("attempts", 2)])
def test_a_killed_run_goes_on(here: Path, table: str, count: int) -> None:
    process = run(here)
    wait_until(lambda: rows(here, table) >= count, process)
    process.kill()
    process.communicate()
    finish(here)


def read_terminal(process: subprocess.Popen[str], terminal: int) -> str:
    """All that a process says to a terminal."""
    said = b""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:
            break
        if not part:
            break
        said += part
    process.wait(timeout=60)
    return said.decode()


@pytest.mark.parametrize("no_colour", [False, True])
def test_a_terminal_gets_one_live_line_and_colour_unless_told(here: Path, no_colour: bool) -> None:
    ours, theirs = pty.openpty()
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "200", **({"NO_COLOR": "1"} if no_colour else {})}
    if not no_colour:
        env.pop("NO_COLOR", None)
    args = ["run", "-p", "pool", "-N", "5", "-k", "2"]
    process = start(here, *args, pause=0.15, stdout=theirs, stderr=theirs, env=env)
    os.close(theirs)
    said = read_terminal(process, ours)
    os.close(ours)
    assert process.returncode == 0, said
    assert re.search(r"\r\x1b\[2Kmeasured \d+/10 rollouts · elapsed 0:0\d", said)
    assert re.search(r"seed +k/n +95 % interval  status\r?\nseed-\d +\d/\d", said)
    assert re.search(r"\r\x1b\[\dA\x1b\[J", said)  # the table is drawn over
    assert re.search(r"\r\x1b\[2Kverified [1-4]/5 · in flight [12] · rejected 0 · elapsed 0:0\d · left 0:0\d", said)
    assert ("\x1b[1m" in said) is not no_colour
    assert "5 of 5 environments accepted, 5 exported" in said


def test_elsewhere_progress_is_a_few_plain_lines(here: Path) -> None:
    process = run(here)
    _, err = process.communicate(timeout=60)
    assert "\x1b" not in err
    assert "\r" not in err
    lines = err.splitlines()
    assert lines[0] == "run directory mine"
    assert len(lines) < 12
    assert any(line.startswith("measured ") for line in lines)
