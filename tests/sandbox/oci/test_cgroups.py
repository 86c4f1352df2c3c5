"""Control groups of both versions, as far as this machine has them."""

import contextlib
import secrets
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from envs_forge.sandbox.oci import cgroups
from envs_forge.sandbox.oci.cgroups import Cgroup
from waiting import eventually

pytestmark = pytest.mark.engine
FORKING = "for n in 1 2 3 4 5 6 7 8 9; do for m in 1 2 3 4 5 6 7 8 9; do sleep 0.05 & done; sleep 0.02; done; sleep 60"


def second_tree() -> Path | None:
    """Root of a version 2 tree, wherever it is mounted."""
    found = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    return next((Path(fields[1]) for fields in found if fields[2] == "cgroup2"), None)


@pytest.fixture(params=["v1", "v2"])
def group(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cgroup]:
    v2 = second_tree()
    if request.param == "v2":
        if v2 is None:
            pytest.skip("no version 2 tree is mounted")
        monkeypatch.setattr(cgroups, "ROOT", v2)
        monkeypatch.setattr(cgroups, "trees", lambda: {v2: set()})
    elif cgroups.version() != "v1":
        pytest.skip("no version 1 trees are mounted")
    assert cgroups.version() == request.param
    monkeypatch.setattr(cgroups, "FREEZE_S", 60.0)
    made = Cgroup(f"envs-forge-test-{secrets.token_hex(4)}")
    for place in made._places:
        place.mkdir()
    yield made
    made.kill()
    made.remove()
    assert not [place for place in made._places if place.exists()]


def commands(pids: set[int]) -> set[str]:
    lines = set()
    for pid in pids:
        with contextlib.suppress(OSError):
            lines.add(Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ").strip())
    return lines


@contextlib.contextmanager
def running(group: Cgroup, script: str) -> Iterator[subprocess.Popen[bytes]]:
    """A shell in the group; it waits until it is in there, and is killed at the end whatever happens."""
    process = subprocess.Popen(["/bin/sh", "-c", f"read go && {{ {script}; }}"], stdin=subprocess.PIPE)
    try:
        for controller in ("pids", "freezer"):
            (group._tree(controller) / "cgroup.procs").write_text(str(process.pid))
        assert process.stdin is not None
        process.stdin.write(b"go\n")
        process.stdin.close()
        yield process
    finally:
        group.thaw()
        process.kill()
        process.wait()


def test_what_forks_is_frozen_and_killed(group: Cgroup) -> None:
    with running(group, FORKING) as process:
        assert eventually(lambda: len(group.processes()) > 1)
        assert process.pid in group.processes()
        assert group.freeze()
        before = group.processes()
        time.sleep(0.1)
        assert group.processes() == before
        group.thaw()
        group.kill()
        assert group.processes() == set()


def test_the_frozen_can_be_killed(group: Cgroup) -> None:
    with running(group, "sleep 1000") as process:
        # Between fork and exec a process can hold up the freezer for long.
        assert eventually(lambda: "sleep 1000" in commands(group.processes() - {process.pid}))
        assert group.freeze()
        group.kill()


def test_what_is_not_there_says_nothing(group: Cgroup) -> None:
    nobody = Cgroup("envs-forge-nobody")
    assert nobody.processes() == set()
    assert nobody.oom_kills() == 0
    assert not nobody.freeze()
    nobody.kill()
    nobody.remove()
