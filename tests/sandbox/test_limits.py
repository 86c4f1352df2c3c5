import pytest

from envs_forge.sandbox.engine import Engine, Image, Limits, Sandbox, SandboxSpec

pytestmark = pytest.mark.engine
HOG = "x = bytearray(600 << 20); print(len(x))"


def test_memory_is_limited_and_the_kill_is_told(sandbox: Sandbox) -> None:
    result = sandbox.exec(["python3", "-c", HOG], timeout=30)
    assert result.exit_code == 137
    assert result.oom
    assert not result.timed_out
    assert not sandbox.exec(["true"], timeout=10).oom
    hidden = sandbox.exec(["sh", "-c", f"python3 -c '{HOG}'; echo went on"], timeout=30)
    assert hidden.oom
    assert hidden.stdout == b"went on\n"


def test_processes_are_limited_and_a_fork_bomb_passes(engine: Engine, sandbox: Sandbox) -> None:
    many = sandbox.exec(["sh", "-c", "for i in $(seq 300); do sleep 5 & done; wait"], timeout=30)
    assert many.exit_code != 0 or b"fork" in many.stderr.lower()
    assert not sandbox.exec(["true"], timeout=10).limits
    bomb = sandbox.exec(["bash", "-c", "f() { while :; do f & done; }; f"], timeout=2)
    assert bomb.exit_code != 0
    assert bomb.limits == (("processes",) if engine.name == "oci" else ())
    assert sandbox.exec(["echo", "well"], timeout=30).stdout == b"well\n"


def test_cpu_is_limited(engine: Engine, plain: Image) -> None:
    spin = "import time\nt = time.monotonic()\nwhile time.monotonic() - t < 1: pass\nprint(time.process_time())"
    with engine.create(plain, SandboxSpec(limits=Limits(cpus=0.25, memory_mb=128))) as sandbox:
        used = float(sandbox.exec(["python3", "-c", spin], timeout=30).stdout)
    assert used < 0.6


def test_more_cores_than_there_are_is_no_error(engine: Engine, plain: Image) -> None:
    with engine.create(plain, SandboxSpec(limits=Limits(cpus=512, memory_mb=128))) as sandbox:
        assert sandbox.exec(["true"], timeout=10).exit_code == 0


@pytest.mark.parametrize(
    "fill",
    [
        "head -c 500M /dev/zero > /big",
        "for i in $(seq 100); do head -c 5M /dev/zero > /part$i || exit 1; sleep 0.05; done; sleep 50",
        "for i in $(seq 40); do exec {f}>/x && rm /x && head -c 5M /dev/zero >&$f || exit 1; done; sleep 50",
    ],
    ids=["one-file", "many-files", "deleted-files"],
)
def test_disk_is_limited(sandbox: Sandbox, fill: str) -> None:
    """A real cap answers ENOSPC; a watcher stops the sandbox. Either way the machine's disk is safe."""
    result = sandbox.exec(["bash", "-c", fill], timeout=60)
    assert result.exit_code not in (0, None)
    assert result.limits == ("disk",) or "rm /x" in fill  # what is deleted at the end is not seen
    with sandbox.get("/etc/hostname"):
        pass


def test_what_was_written_can_still_be_fetched_when_the_disk_is_full(sandbox: Sandbox) -> None:
    sandbox.exec(["bash", "-c", "echo kept > /kept; head -c 500M /dev/zero > /big"], timeout=60)
    with sandbox.get("/kept") as stream:
        assert b"kept" in stream.read()
