"""Processes that die without a word, at any moment, and what is left of them."""

import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from envs_forge.sandbox.engine import Image, SandboxSpec
from envs_forge.sandbox.oci import OciEngine
from envs_forge.sandbox.oci.reaping import reap_dead
from waiting import command_lines, eventually

from .conftest import SMALL, leftovers

pytestmark = pytest.mark.engine

WORKER = """
import sys, threading
from pathlib import Path
from envs_forge.sandbox.engine import Image, Limits, SandboxSpec
from envs_forge.sandbox.oci import OciEngine
engine = OciEngine(state=Path(sys.argv[1]))
image = Image(sys.argv[2], "", workdir="/")
if sys.argv[3] == "hold":
    sandbox = engine.create(image, SandboxSpec(limits=Limits(disk_mb=32)))
    sandbox.exec(["/bin/sh", "-c", "setsid sleep 6543 >/dev/null 2>&1 &"], timeout=20)
    print("ready", flush=True)
    threading.Event().wait()
print("ready", flush=True)
def work():
    while True:
        with engine.create(image, SandboxSpec(limits=Limits(disk_mb=32), fresh_dirs=["/logs"])) as sandbox:
            sandbox.exec(["/bin/sh", "-c", "setsid sleep 6544 >/dev/null 2>&1 & echo x > /file"], timeout=20)
            snapshot = sandbox.snapshot()
        with engine.create(snapshot, SandboxSpec(limits=Limits(disk_mb=32))) as sandbox:
            sandbox.exec(["/bin/sh", "-c", "cat /file"], timeout=20)
        snapshot.release()
threads = [threading.Thread(target=work) for _ in range(2)]
[thread.start() for thread in threads]
"""


STARTED: list[subprocess.Popen[str]] = []


@pytest.fixture
def crowded(tmp_path: Path, oci: OciEngine) -> Iterator[Path]:
    """A state directory for processes that are going to be killed."""
    yield tmp_path
    for process in STARTED:
        kill(process)
    STARTED.clear()
    reap_dead(tmp_path)


def start(state: Path, image: Image, what: str = "churn") -> subprocess.Popen[str]:
    argv = [sys.executable, "-c", WORKER, str(state), image.id, what]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    STARTED.append(process)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n", process.communicate()[1]
    return process


def kill(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()


def groups() -> set[str]:
    root = Path("/sys/fs/cgroup")
    return {path.name for pattern in ("*/envs-forge-*", "envs-forge-*") for path in root.glob(pattern)}


def sleepers() -> list[str]:
    return [line for line in command_lines() if line == "sleep 6543"]


def mine(state: Path) -> set[str]:
    """Names of the sandboxes below a state directory."""
    return {path.name for path in (state / "owners").glob("*/run/sandboxes/*")}


def test_a_process_killed_at_any_moment_is_cleaned_up_after(crowded: Path, image: Image) -> None:
    chance = random.Random(1)
    survivor = OciEngine(state=crowded)
    with survivor.create(image, SandboxSpec(limits=SMALL)) as alive:
        for _ in range(10):
            process = start(crowded, image)
            time.sleep(chance.uniform(0.0, 0.5))
            kill(process)
            names = mine(crowded) - {alive.id}
            survivor.reap()
            assert mine(crowded) == {alive.id}
            assert not groups() & names
        assert alive.exec(["echo", "alive"], timeout=20).stdout == b"alive\n"
        assert survivor.reap() == 0
    survivor.close()
    assert leftovers(crowded) == []


def test_the_sandboxes_of_a_dead_process_die_at_once(crowded: Path, image: Image) -> None:
    process = start(crowded, image, "hold")
    assert eventually(lambda: len(sleepers()) == 1)
    kill(process)
    assert eventually(lambda: sleepers() == [])
    engine = OciEngine(state=crowded)
    assert engine.reap() >= 1
    engine.close()
    assert leftovers(crowded) == []


def test_two_processes_at_once_do_not_touch_each_others(crowded: Path, image: Image) -> None:
    workers = [start(crowded, image) for _ in range(2)]
    engine = OciEngine(state=crowded)
    for _ in range(5):
        with engine.create(image, SandboxSpec(limits=SMALL)) as sandbox:
            assert engine.reap() == 0
            assert sandbox.exec(["true"], timeout=20).exit_code == 0
    assert [worker.poll() for worker in workers] == [None, None]
    for worker in workers:
        kill(worker)
    engine.reap()
    engine.close()
    assert leftovers(crowded) == []


def test_close_takes_what_is_open_and_may_be_called_twice(crowded: Path, image: Image) -> None:
    engine = OciEngine(state=crowded)
    sandbox = engine.create(image, SandboxSpec(limits=SMALL))
    frozen = engine.create(image, SandboxSpec(limits=SMALL))
    frozen.snapshot()
    engine.close()
    engine.close()
    sandbox.destroy()
    assert leftovers(crowded) == []
