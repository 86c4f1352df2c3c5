import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from envs_forge.sandbox import owner
from envs_forge.sandbox.engine import Engine, Image, Sandbox, SandboxSpec
from envs_forge.sandbox.oci.state import state_root
from waiting import command_lines

pytestmark = pytest.mark.engine

ABANDON = """
import os, signal, sys
from envs_forge.sandbox import owner
print(owner.current().mark(), flush=True)
from envs_forge.sandbox.auto import make_engine
from envs_forge.sandbox.engine import Image, SandboxSpec
engine = make_engine(sys.argv[1])
left = engine.create(Image(sys.argv[2], sys.argv[3], workdir="/"), SandboxSpec())
left.exec(["/bin/sh", "-c", "nohup sleep {number} >/dev/null 2>&1 &"], timeout=20)
gone = engine.create(Image(sys.argv[2], sys.argv[3], workdir="/"), SandboxSpec())
gone.snapshot()
{end}
"""


def run_and_end(engine: Engine, image: Image, number: int, end: str) -> subprocess.CompletedProcess[bytes]:
    script = ABANDON.format(number=number, end=end)
    argv = [sys.executable, "-c", script, engine.name, image.id, image.tag]
    return subprocess.run(argv, capture_output=True, timeout=120, check=False)


def leftovers(mark: str) -> dict[str, set[str]]:
    """Everything of one owner that this machine shows: containers, snapshots, mounts, directories of state."""
    mine = ["--filter", f"label=envs-forge.owner={mark}"]
    return {
        "containers": set(subprocess.check_output(["docker", "ps", "-aq", *mine], text=True).split()),
        "snapshots": set(subprocess.check_output(["docker", "images", "-aq", *mine], text=True).split()),
        "mounts": {line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines() if mark in line},
        "state": {str(path) for path in (state_root() / "owners").glob(f"{mark}*/run/sandboxes/*")},
    }


NOTHING = {"containers": set[str](), "snapshots": set[str](), "mounts": set[str](), "state": set[str]()}


def test_destroy_kills_everything_and_leaves_nothing(engine: Engine, plain: Image) -> None:
    before = leftovers(owner.current().mark())
    sandbox = engine.create(plain, SandboxSpec(fresh_dirs=("/tests",)))
    sandbox.exec(["/bin/sh", "-c", "for i in 1 2 3; do nohup setsid sleep 4242 >/dev/null 2>&1 & done"], timeout=20)
    sandbox.destroy()
    sandbox.destroy()
    assert not [line for line in command_lines() if line == "sleep 4242"]
    after = leftovers(owner.current().mark())
    assert {kind: after[kind] - before[kind] for kind in before if kind != "mounts"} == {
        kind: set() for kind in before if kind != "mounts"
    }


def test_each_sandbox_has_its_own_name(engine: Engine, plain: Image) -> None:
    with engine.create(plain, SandboxSpec()) as one, engine.create(plain, SandboxSpec()) as other:
        assert one.id != other.id


def test_a_process_that_exits_without_cleaning_leaves_nothing_that_runs(engine: Engine, plain: Image) -> None:
    run = run_and_end(engine, plain, 4343, "sys.exit(3)")
    assert run.returncode == 3, run.stderr.decode()
    assert not [line for line in command_lines() if line == "sleep 4343"]
    left = leftovers(run.stdout.decode().strip())
    assert not left["containers"]
    assert not left["mounts"]
    engine.reap()
    assert leftovers(run.stdout.decode().strip()) == NOTHING


def test_what_a_killed_process_left_is_reaped_and_the_living_is_not(engine: Engine, plain: Image) -> None:
    with engine.create(plain, SandboxSpec()) as alive:
        run = run_and_end(engine, plain, 4444, "os.kill(os.getpid(), signal.SIGKILL)")
        assert run.returncode == -signal.SIGKILL, run.stderr.decode()
        engine.reap()
        assert not [line for line in command_lines() if line == "sleep 4444"]
        assert alive.exec(["echo", "alive"], timeout=20).stdout == b"alive\n"
    assert leftovers(run.stdout.decode().strip()) == NOTHING


INTERRUPTED = """
import threading, time
ring = lambda: [(time.sleep(0.05), os.kill(os.getpid(), signal.SIGINT)) for _ in range(2)]
threading.Thread(target=ring).start()
try:
    left.exec(["sleep", "50"], timeout=60)
finally:
    engine.close()
"""


def test_two_interrupts_leave_nothing_that_runs(engine: Engine, plain: Image) -> None:
    run = run_and_end(engine, plain, 4545, INTERRUPTED)
    assert run.returncode != 0
    assert not [line for line in command_lines() if line in ("sleep 4545", "sleep 50")]
    left = leftovers(run.stdout.decode().strip())
    assert not left["containers"]
    assert not left["mounts"]
    engine.reap()
    assert leftovers(run.stdout.decode().strip()) == NOTHING


def test_a_sandbox_that_removed_its_own_files_is_still_data(sandbox: Sandbox) -> None:
    sandbox.exec(["/bin/sh", "-c", "rm -rf --no-preserve-root / 2>/dev/null"], timeout=60)
    result = sandbox.exec(["/bin/sh", "-c", "true"], timeout=20)
    assert result.exit_code in (126, 127)
    with pytest.raises(FileNotFoundError), sandbox.get("/etc/passwd"):
        pass
    sandbox.snapshot().release()


def test_a_thread_for_each_sandbox(engine: Engine, plain: Image) -> None:
    from concurrent.futures import ThreadPoolExecutor

    def work(number: int) -> bytes:
        with engine.create(plain, SandboxSpec()) as sandbox:
            sandbox.exec(["/bin/sh", "-c", f"echo {number} > /mine"], timeout=30)
            return sandbox.exec(["cat", "/mine"], timeout=30).stdout

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(6))) == [f"{number}\n".encode() for number in range(6)]


def test_an_image_that_is_gone_is_the_machines_fault(engine: Engine) -> None:
    from envs_forge.errors import InfrastructureError

    with pytest.raises(InfrastructureError):
        engine.create(Image("sha256:" + "0" * 64, "no/such:1"), SandboxSpec())


def test_the_environment_of_this_process_stays_outside(sandbox: Sandbox) -> None:
    os.environ["FORGE_SECRET"] = "s3cret"
    try:
        assert b"s3cret" not in sandbox.exec(["env"], timeout=20).stdout
    finally:
        del os.environ["FORGE_SECRET"]
