"""put and get against a sandbox that wants them to reach the host."""

import io
import tarfile
from pathlib import Path

import pytest

from envs_forge.errors import EngineError
from envs_forge.sandbox.engine import Sandbox

from .conftest import sh

pytestmark = pytest.mark.engine


def archive(*members: tuple[str, bytes] | tarfile.TarInfo) -> io.BytesIO:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for member in members:
            if isinstance(member, tarfile.TarInfo):
                tar.addfile(member)
                continue
            info = tarfile.TarInfo(member[0])
            info.size = len(member[1])
            tar.addfile(info, io.BytesIO(member[1]))
    buffer.seek(0)
    return buffer


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    path = tmp_path / "canary"
    path.write_text("alive")
    return path


def test_a_link_planted_at_the_target_stays_inside(sandbox: Sandbox, canary: Path) -> None:
    sh(sandbox, f"ln -s {canary.parent} /tests; ln -s /../../../..{canary.parent} /more")
    sandbox.put("/tests", archive(("canary", b"dead")))
    sandbox.put("/more", archive(("canary", b"dead")))
    assert canary.read_text() == "alive"
    assert sh(sandbox, "cat /tests/canary /more/canary") == "deaddead"


@pytest.mark.parametrize(
    "trap", ["ln -s {canary} /t/file", "ln /own /t/file", "mkfifo /t/file", "mkdir -p /t/file/sub"]
)
def test_what_is_in_the_way_of_a_file_is_replaced(sandbox: Sandbox, canary: Path, trap: str) -> None:
    sh(sandbox, "mkdir /t; echo own > /own; " + trap.format(canary=canary))
    sandbox.put("/t", archive(("file", b"new")))
    assert canary.read_text() == "alive"
    assert sh(sandbox, "cat /t/file /own; [ ! -L /t/file ]") == "newown\n"


def test_an_archive_may_not_leave_its_target(sandbox: Sandbox) -> None:
    with pytest.raises(EngineError) as caught:
        sandbox.put("/t", archive(("../../escaped", b"x")))
    assert caught.value.code == "bad-archive"


def test_a_hard_link_cannot_name_a_file_of_the_host(sandbox: Sandbox, canary: Path) -> None:
    link = tarfile.TarInfo("mine")
    link.type, link.linkname = tarfile.LNKTYPE, str(canary).lstrip("/")
    with pytest.raises(EngineError):
        sandbox.put("/", archive(link))
    assert canary.stat().st_nlink == 1


def test_a_link_is_fetched_as_a_link(sandbox: Sandbox, canary: Path) -> None:
    sh(
        sandbox,
        f"mkdir /out; ln -s {canary} /out/link; ln -s {canary.parent} /door; mkfifo /out/pipe; echo x > /out/file",
    )
    with sandbox.get("/out") as stream, tarfile.open(fileobj=stream, mode="r|") as tar:
        found = {member.name: member.type for member in tar}
    assert found == {
        "out": tarfile.DIRTYPE,
        "out/link": tarfile.SYMTYPE,
        "out/pipe": tarfile.FIFOTYPE,
        "out/file": tarfile.REGTYPE,
    }
    with pytest.raises(FileNotFoundError), sandbox.get("/door/canary"):
        pass


def test_a_stream_that_is_not_read_holds_nothing(sandbox: Sandbox) -> None:
    with sandbox.get("/etc"):
        pass
    with sandbox.get("/etc") as stream:
        stream.read(1)
    sandbox.snapshot().release()


def test_a_file_that_shrinks_while_it_is_fetched_keeps_the_archive_whole(sandbox: Sandbox) -> None:
    sh(sandbox, "mkdir /big; head -c 8M /dev/urandom > /big/a; echo end > /big/b")
    with sandbox.get("/big") as stream:
        start = stream.read(3 * 1024 * 1024)
        sh(sandbox, ": > /big/a")
        rest = stream.read()
    with tarfile.open(fileobj=io.BytesIO(start + rest)) as tar:
        assert {member.name: member.size for member in tar if member.isreg()}.keys() == {"big/a", "big/b"}


def test_a_full_disk_of_the_sandbox_is_said_to_be_its_own(sandbox: Sandbox) -> None:
    sandbox.exec(["/bin/sh", "-c", "cat /dev/zero > /hog"], timeout=30)
    with pytest.raises(EngineError) as caught:
        sandbox.put("/t", archive(("file", b"x" * 4 * 1024 * 1024)))
    assert caught.value.code == "sandbox-full"
