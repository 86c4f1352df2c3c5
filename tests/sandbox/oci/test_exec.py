"""What the engine's own way of running commands promises beyond the shared suite."""

import os
import resource
import subprocess
import threading
from pathlib import Path

import pytest

from envs_forge.sandbox.engine import Image, Limits, Sandbox, SandboxSpec
from envs_forge.sandbox.oci import OciEngine, pump
from waiting import eventually

from .conftest import SMALL, sh

pytestmark = pytest.mark.engine

RUNNING = 'for place in /proc/[0-9]*; do echo; tr "\\0" " " < $place/cmdline; done 2>/dev/null; true'
LOGGER = "import time\nfor n in range(1000): print('line' * 2000, flush=True); open('/n', 'w').write(str(n))"


def running(sandbox: Sandbox) -> str:
    """Command lines in a sandbox, one a line, without that of the one who looks."""
    return "\n".join(line for line in sh(sandbox, RUNNING).splitlines() if "cmdline" not in line)


def test_a_background_process_can_log_after_its_command_ended(sandbox: Sandbox) -> None:
    sh(sandbox, f'python3 -c "{LOGGER}" &')
    assert eventually(lambda: sh(sandbox, "cat /n 2>/dev/null || :") == "999")


def test_a_timeout_takes_daemons_of_the_command_and_spares_older_ones(sandbox: Sandbox) -> None:
    sh(sandbox, "setsid sleep 1111 >/dev/null 2>&1 & setsid sh -c 'while :; do sleep 0.05; done' >/dev/null 2>&1 &")
    assert eventually(lambda: "\nsleep 1111" in running(sandbox))
    late = sandbox.exec(["/bin/sh", "-c", "setsid setsid sleep 2222 & sleep 3333 & sleep 4444"], timeout=0.5)
    assert late.timed_out
    assert late.exit_code is None
    left = running(sandbox)
    assert "sleep 1111" in left
    assert "while :" in left
    assert not [number for number in ("2222", "3333", "4444") if f"sleep {number}" in left]


BOMB = """
import os, time
if os.fork() == 0:
    while True:
        try:
            os.fork()
        except OSError:
            pass
time.sleep(100)
"""


def test_a_fork_bomb_ends_with_its_time(sandbox: Sandbox) -> None:
    bombed = sandbox.exec(["python3", "-c", BOMB], timeout=1)
    assert bombed.timed_out
    assert sh(sandbox, "ls -d /proc/[0-9]* | wc -l; echo fine").split()[-1] == "fine"
    assert len(sandbox._container.cgroup.processes()) == 1  # type: ignore[attr-defined]


def test_a_sandbox_full_of_processes_says_so(oci: OciEngine, image: Image) -> None:
    fork = "import os, time\nwhile True:\n try:\n  os.fork() or time.sleep(1000)\n except OSError: time.sleep(0.01)"
    with oci.create(image, SandboxSpec(limits=Limits(pids=8, memory_mb=128, disk_mb=64))) as sandbox:
        sandbox.exec(["/bin/sh", "-c", f"python3 -c '{fork}' & sleep 1"], timeout=10)
        said = []
        assert eventually(lambda: said.append(sandbox.exec(["true"], timeout=10)) or said[-1].exit_code == 126)
        assert b"no process could be started" in said[-1].stderr


@pytest.mark.parametrize(
    "attempt",
    [
        "cat /proc/1/environ",
        "ls -l /proc/1/fd/0",
        "readlink /proc/1/exe",
        "cat /proc/1/mem",
        "cat /proc/1/maps | grep .",
    ],
)
def test_pid_1_cannot_be_looked_into(sandbox: Sandbox, attempt: str) -> None:
    assert sandbox.exec(["/bin/sh", "-c", attempt], timeout=10).exit_code != 0


def test_pid_1_survives_every_signal(sandbox: Sandbox) -> None:
    sh(sandbox, "echo > /dev/shm/mark; for n in $(seq 64); do kill -$n 1; kill -$n -1; done 2>/dev/null; true")
    assert sh(sandbox, "ls /dev/shm") == "mark\n"


def test_an_out_of_memory_pid_1_is_started_again(sandbox: Sandbox) -> None:
    sh(sandbox, "echo kept > /kept")
    pid = next(iter(sandbox._container.cgroup.processes()))  # type: ignore[attr-defined]
    subprocess.run(["kill", "-9", str(pid)], check=True)
    assert eventually(lambda: not Path(f"/proc/{pid}").exists())
    assert sh(sandbox, "cat /kept") == "kept\n"


def test_zombies_are_reaped(sandbox: Sandbox) -> None:
    sh(sandbox, "for i in 1 2 3 4 5; do (sleep 0.01 &) ; done")
    assert eventually(lambda: " Z " not in sh(sandbox, "cat /proc/[0-9]*/stat 2>/dev/null; true"))


@pytest.mark.parametrize(
    ("argv", "code"), [([], 126), (["a\0b"], 126), (["/nowhere"], 127), (["/etc/passwd"], 126), ([""], 127)]
)
def test_a_command_that_cannot_be_is_a_result(sandbox: Sandbox, argv: list[str], code: int) -> None:
    done = sandbox.exec(argv, timeout=10)
    assert done.exit_code == code
    assert done.stderr


def test_a_script_without_a_shebang_is_not_run_by_a_guess(sandbox: Sandbox) -> None:
    sh(sandbox, "echo true > /script; chmod +x /script")
    assert sandbox.exec(["/script"], timeout=10).exit_code == 126


def test_a_directory_that_is_gone_is_said(sandbox: Sandbox) -> None:
    done = sandbox.exec(["true"], timeout=10, cwd="/not/there")
    assert done.exit_code == 126
    assert b"/not/there" in done.stderr


def test_stdin_of_any_size(sandbox: Sandbox) -> None:
    content = bytes(range(256)) * 40_000
    assert sandbox.exec(["wc", "-c"], timeout=20, stdin=content).stdout.strip() == str(len(content)).encode()


def test_output_of_a_writer_that_outlives_the_command_is_waited_for_a_moment(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pump, "LINGER_S", 20.0)  # ends when the writer does; the true moment is short
    assert sh(sandbox, "(sleep 0.03; echo late) & echo early") == "early\nlate\n"


def test_nothing_stays_open(oci: OciEngine, image: Image) -> None:
    counts = []
    kept = []
    for _ in range(4):
        sandbox = oci.create(image, SandboxSpec(limits=SMALL))
        sh(sandbox, "sleep 100 & echo x")
        sandbox.exec(["/bin/sh", "-c", "sleep 100 & sleep 100"], timeout=0.1)
        sandbox.snapshot().release()
        sandbox.destroy()
        kept.append(sandbox)
        assert eventually(lambda: not any(thread.name == "envs-forge-drain" for thread in threading.enumerate()))
        counts.append(len(list(Path("/proc/self/fd").iterdir())))
    assert counts[-1] == counts[1]


def test_descriptors_of_any_number_serve(oci: OciEngine, image: Image) -> None:
    if resource.getrlimit(resource.RLIMIT_NOFILE)[0] < 2000:
        pytest.skip("this shell allows too few open files")
    taken = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    try:
        with oci.create(image, SandboxSpec(limits=SMALL)) as sandbox:
            assert sh(sandbox, "echo x") == "x\n"
    finally:
        for descriptor in taken:
            os.close(descriptor)
