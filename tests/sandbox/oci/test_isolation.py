"""Seccomp, capabilities, control groups: asked from inside, and looked at from outside."""

import platform
from pathlib import Path

import pytest

from envs_forge.sandbox.engine import Sandbox, SandboxSpec
from envs_forge.sandbox.oci import OciEngine

from .conftest import SMALL, Image, cgroups_of, sh

pytestmark = pytest.mark.engine

PROBE = """
import ctypes, errno, sys
libc = ctypes.CDLL(None, use_errno=True)
for line in sys.stdin.read().split(";"):
    name, *numbers = line.split()
    libc.syscall(*map(int, numbers), 0, 0, 0, 0, 0)
    print(name, errno.errorcode.get(ctypes.get_errno(), "OK"))
    ctypes.set_errno(0)
"""
NUMBERS = {
    "mount": 165, "umount2": 166, "pivot_root": 155, "unshare": 272, "setns": 308, "fsopen": 430, "open_tree": 428,
    "move_mount": 429, "mount_setattr": 442, "bpf": 321, "perf_event_open": 298, "init_module": 175,
    "finit_module": 313, "delete_module": 176, "kexec_load": 246, "kexec_file_load": 320, "keyctl": 250,
    "add_key": 248, "request_key": 249, "reboot": 169, "swapon": 167, "swapoff": 168, "clock_settime": 227,
    "settimeofday": 164, "adjtimex": 159, "open_by_handle_at": 304, "userfaultfd": 323, "io_uring_setup": 425,
    "io_uring_enter": 426, "io_uring_register": 427, "iopl": 172, "acct": 163, "quotactl": 179, "syslog": 103,
    "modify_ldt": 154, "mbind": 237, "move_pages": 279, "fanotify_init": 300,
}  # fmt: skip
x86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="the numbers are those of x86-64")


def asked(sandbox: Sandbox, calls: str) -> dict[str, str]:
    done = sandbox.exec(["python3", "-c", PROBE], timeout=30, stdin=calls.encode())
    assert done.exit_code == 0, done
    return dict(line.split() for line in done.stdout.decode().splitlines())


@x86
def test_calls_that_reach_for_the_host_are_denied(sandbox: Sandbox) -> None:
    answers = asked(sandbox, ";".join(f"{name} {number}" for name, number in NUMBERS.items()))
    assert {name for name, answer in answers.items() if answer != "EPERM"} == set()


@x86
def test_new_namespaces_are_denied_in_every_form(sandbox: Sandbox) -> None:
    flags = {"user": 0x10000000, "net": 0x40000000, "mount": 0x20000, "pid-and-more": 0x20000000 | 0x11}
    answers = asked(sandbox, ";".join(f"{name} 56 {flag}" for name, flag in flags.items()) + ";clone3 435")
    assert answers == {**dict.fromkeys(flags, "EPERM"), "clone3": "ENOSYS"}


@x86
def test_sockets_to_the_hypervisor_are_denied_and_others_are_not(sandbox: Sandbox) -> None:
    assert asked(sandbox, "vsock 41 40 1;unix 41 1 1;inet 41 2 1;netlink 41 16 3") == {
        "vsock": "EPERM",
        "unix": "OK",
        "inet": "OK",
        "netlink": "OK",
    }


@x86
def test_tracing_and_personality_work_as_in_docker(sandbox: Sandbox) -> None:
    assert asked(sandbox, "ptrace 101 0;personality 135 4294967295") == {"ptrace": "OK", "personality": "OK"}


def test_capabilities_are_dockers_default(sandbox: Sandbox) -> None:
    lines = dict(line.split(":\t") for line in sh(sandbox, "cat /proc/self/status").splitlines() if ":\t" in line)
    assert {lines[f"Cap{name}"] for name in ("Prm", "Eff", "Bnd")} == {"00000000a80425fb"}
    assert {lines[f"Cap{name}"] for name in ("Inh", "Amb")} == {"0" * 16}
    assert (lines["NoNewPrivs"], lines["Seccomp"]) == ("1", "2")


def test_another_user_has_no_capabilities(sandbox: Sandbox) -> None:
    status = sh(sandbox, "cat /proc/self/status", user="1234:1234")
    assert "CapEff:\t0000000000000000" in status


def test_the_hosts_groups_and_mounts_are_not_shown(sandbox: Sandbox) -> None:
    assert {line.split(":")[2] for line in sh(sandbox, "cat /proc/self/cgroup").split()} == {"/"}
    assert "/dev/loop" not in sh(sandbox, "cat /proc/self/mountinfo; ls /dev")


def test_limits_are_in_force_and_go_with_the_sandbox(oci: OciEngine, image: Image) -> None:
    with oci.create(image, SandboxSpec(limits=SMALL)) as sandbox:
        sandbox.exec(["true"], timeout=30)
        places = cgroups_of(sandbox.id)
        files = [path for place in places for path in place.iterdir() if path.name in LIMIT_FILES]
        values = {path.name: path.read_text().strip() for path in files}
        assert str(128 * 1024 * 1024) in (values.get("memory.limit_in_bytes"), values.get("memory.max"))
        assert values["pids.max"] == "101"
        assert values.get("cpu.max", f"{values.get('cpu.cfs_quota_us')} 100000") == "100000 100000"
    assert not cgroups_of(sandbox.id)


LIMIT_FILES = ("memory.limit_in_bytes", "memory.max", "pids.max", "cpu.max", "cpu.cfs_quota_us")


def test_device_nodes_are_dead(sandbox: Sandbox) -> None:
    sh(sandbox, "mknod /null c 1 3; mknod /vda b 254 0; mknod /dev/vda b 254 0")
    for attempt in ("echo x > /null", "head -c 1 /vda", "head -c 1 /dev/vda"):
        assert sandbox.exec(["/bin/sh", "-c", attempt], timeout=10).exit_code != 0


def test_the_host_name_is_the_sandboxes(oci: OciEngine, image: Image) -> None:
    with oci.create(image, SandboxSpec(limits=SMALL, hostname="other")) as sandbox:
        assert sh(sandbox, "hostname; cat /etc/hostname; getent hosts other") == "other\nother\n127.0.0.1       other\n"
    assert Path("/etc/hostname").read_text().strip() != "other"
