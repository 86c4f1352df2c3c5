"""PID 1, spoken to as the engine does, outside a container."""

import os
import platform
import shutil
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import pytest

from envs_forge.sandbox.oci import init
from envs_forge.sandbox.oci.command import Command, memory_file
from envs_forge.sandbox.oci.container import EXITED, HELLO, REPLY, STARTED
from envs_forge.sandbox.oci.users import Identity

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it is a Linux program")
SOURCE = resources.files("envs_forge.sandbox.oci.init")


def candidates() -> Iterator[tuple[str, list[str]]]:
    """Ways to run the program here: as packaged, and the other machine's through an emulator."""
    for machine in ("x86_64", "aarch64"):
        path = str(SOURCE.joinpath(f"init.{machine}"))
        emulator = shutil.which(f"qemu-{machine}-static")
        if machine == platform.machine():
            yield machine, [path]
        elif emulator:
            yield machine, [emulator, path]


class Talk:
    """One running program."""

    def __init__(self, argv: list[str]) -> None:
        self.ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.ours.settimeout(20)
        self.process = subprocess.Popen(argv, stdin=theirs, stdout=subprocess.DEVNULL)
        theirs.close()
        assert REPLY.unpack(self.ours.recv(100))[0] == HELLO

    def run(self, *argv: str, cwd: str = "/", env: dict[str, str] | None = None) -> tuple[int, bytes]:
        content = Command(argv, env or {"PATH": os.environ["PATH"]}, cwd, Identity()).encode()
        blob, null = memory_file("request", content), os.open(os.devnull, os.O_RDONLY)
        source, sink = os.pipe()
        socket.send_fds(self.ours, [struct.pack("=Q", len(content))], [blob, null, sink, sink])
        for descriptor in (blob, null, sink):
            os.close(descriptor)
        replies = [REPLY.unpack(self.ours.recv(100)) for _ in range(2)]
        assert [reply[0] for reply in replies] == [STARTED, EXITED]
        assert replies[0][1] == replies[1][1]
        with os.fdopen(source, "rb") as output:
            return os.waitstatus_to_exitcode(replies[1][2]), output.read()


@pytest.fixture(params=list(candidates()), ids=lambda candidate: candidate[0])
def talk(request: pytest.FixtureRequest) -> Iterator[Talk]:
    made = Talk(request.param[1])
    yield made
    made.ours.close()
    assert made.process.wait(20) == 0, "it ends with the engine"


def test_commands_run_one_after_another(talk: Talk) -> None:
    assert talk.run("sh", "-c", "echo one; exit 3") == (3, b"one\n")
    assert talk.run("sh", "-c", "kill -9 $$") == (-9, b"")
    assert talk.run("pwd", cwd="/usr") == (0, b"/usr\n")


def test_environment_and_arguments_arrive_as_they_are(talk: Talk) -> None:
    script = "import os, sys; print(sys.argv[1:], dict(os.environ))"
    code, output = talk.run(sys.executable, "-Ic", script, "", "a b", "ü\n", env={"A": "", "B": "x=y"})
    assert code == 0
    assert output.decode().startswith("['', 'a b', 'ü\\n'] {'A': '', 'B': 'x=y'")


def test_what_cannot_run_says_why(talk: Talk, tmp_path: Path) -> None:
    assert talk.run("no-such-program") == (127, b"envs-forge: no-such-program: no such file or directory\n")
    assert talk.run("/etc/passwd") == (126, b"envs-forge: /etc/passwd: permission denied\n")
    assert talk.run("true", cwd="/nowhere") == (126, b"envs-forge: cannot enter /nowhere: no such file or directory\n")
    (tmp_path / "odd").write_bytes(b"\x01\x02")
    (tmp_path / "odd").chmod(0o755)
    assert talk.run(str(tmp_path / "odd"))[0] == 126


def test_signals_are_as_a_fresh_process_has_them(talk: Talk) -> None:
    status = talk.run("cat", "/proc/self/status")[1].decode()
    if "Seccomp" in status:
        lines = dict(line.split(":\t") for line in status.splitlines() if line.startswith("Sig"))
        # An emulator keeps real-time signals for itself.
        assert [int(lines[name], 16) & 0x7FFFFFFF for name in ("SigBlk", "SigIgn")] == [0, 0]


def test_a_long_command_line(talk: Talk) -> None:
    assert talk.run("sh", "-c", 'echo "$#"', "sh", *["x" * 1000] * 1000) == (0, b"1000\n")


def test_the_program_cannot_be_changed_by_who_holds_it() -> None:
    writable = os.open(f"/proc/self/fd/{init.program()}", os.O_RDWR)
    try:
        with pytest.raises(PermissionError):
            os.write(writable, b"x")
    finally:
        os.close(writable)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no compiler")
def test_the_packaged_program_is_the_source(tmp_path: Path) -> None:
    """Same compiler, same bytes; another compiler's program at least passes the same talk."""
    built = tmp_path / "init"
    with resources.as_file(SOURCE.joinpath("build.sh")) as script:
        subprocess.run(["sh", str(script), "", platform.machine(), str(built)], check=True)
    talk = Talk([str(built)])
    assert talk.run("sh", "-c", "exit 5") == (5, b"")
    talk.ours.close()
    assert talk.process.wait(20) == 0
    version = subprocess.run(["gcc", "-dumpfullversion"], capture_output=True, text=True, check=True).stdout
    if version.strip() == "12.2.0" and platform.machine() == "x86_64":
        assert built.read_bytes() == init.code()
