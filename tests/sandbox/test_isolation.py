import pytest

from envs_forge.sandbox.docker import link_local
from envs_forge.sandbox.engine import Engine, Image, Sandbox, SandboxSpec

pytestmark = pytest.mark.engine

SERVER = """
import http.server, threading, urllib.request
server = http.server.HTTPServer(("localhost", 0), http.server.BaseHTTPRequestHandler)
threading.Thread(target=server.handle_request, daemon=True).start()
try:
    urllib.request.urlopen(f"http://localhost:{server.server_port}", timeout=5)
except urllib.error.HTTPError as error:
    print(error.code)
"""


def out(sandbox: Sandbox, script: str) -> str:
    return sandbox.exec(["/bin/sh", "-c", script], timeout=30).stdout.decode()


def test_without_a_network_there_is_loopback_only(shared: Sandbox) -> None:
    assert [line.split(":")[0].strip() for line in out(shared, "tail -n +3 /proc/net/dev").splitlines()] == ["lo"]
    assert shared.exec(["python3", "-c", SERVER], timeout=20).stdout == b"501\n"
    assert shared.exec(["curl", "-sS", "--max-time", "5", "http://192.0.2.1"], timeout=20).exit_code != 0


def test_its_own_name_resolves(shared: Sandbox) -> None:
    assert shared.exec(["getent", "hosts", "forge"], timeout=10).exit_code == 0


def test_with_a_network_there_is_more_than_loopback(engine: Engine, plain: Image) -> None:
    with engine.create(plain, SandboxSpec(network=True)) as sandbox:
        assert len(out(sandbox, "tail -n +3 /proc/net/dev").splitlines()) > 1


def test_addresses_of_metadata_are_out_of_reach_with_a_network_too(engine: Engine, plain: Image) -> None:
    if not link_local._programs():
        pytest.skip("needs root, nsenter and ip")
    with engine.create(plain, SandboxSpec(network=True)) as sandbox:
        tries = 'for p in tcp udp; do timeout 5 bash -c "> /dev/$p/169.254.169.254/80"; done 2>&1; true'
        assert out(sandbox, tries).count("169.254.169.254/80: No route to host") == 2
        assert sandbox.exec(["ip", "route", "del", "unreachable", "169.254.0.0/16"], timeout=10).exit_code != 0


@pytest.mark.parametrize(
    "attempt",
    [
        "mount -t tmpfs none /mnt",
        "mount --bind /etc /mnt",
        "mknod /disk b 8 0 && head -c 1 /disk",
        "echo 1 > /proc/sys/kernel/panic",
        "echo c > /proc/sysrq-trigger",
        "head -c 1 /proc/kcore",
        "dmesg",
        "unshare --mount true",
        "chroot /proc/1/root/../.. true && ls /proc/1/root/work",
        "date -s 2001-01-01",
        "hostname other",
        "ls /var/run/docker.sock",
        "ls /run/containerd/containerd.sock",
        "cat /proc/1/environ | grep -a ENVS_FORGE",
        "ls /sys/firmware/efi",
        "head -c 1 /dev/mem",
        "head -c 1 /dev/kmsg",
        "echo x > /sys/power/state",
        "echo '|/tmp/x' > /proc/sys/kernel/core_pattern",
        "modprobe loop || insmod /x.ko",
        "fdisk -l 2>/dev/null | grep .",
        "curl -sS --max-time 3 http://169.254.169.254/latest/meta-data/",
        "nsenter -t 1 -n true && ls /sys/class/net/eth0",
        "d=/sys/fs/cgroup/memory; [ -d $d ] || d=/sys/fs/cgroup; mkdir $d/mine",
        "setpriv --reuid 1234 --clear-groups sh -c 'echo x > /etc/passwd'",
    ],
)
def test_an_attempt_on_the_host_fails(shared: Sandbox, attempt: str) -> None:
    assert shared.exec(["/bin/sh", "-c", attempt], timeout=20, user="0:0").exit_code != 0


def test_set_uid_programs_gain_nothing(shared: Sandbox) -> None:
    """No new privileges: the flag is on for every process."""
    assert out(shared, "grep NoNewPrivs /proc/self/status").split() == ["NoNewPrivs:", "1"]


def test_processes_of_the_host_are_not_seen(shared: Sandbox) -> None:
    assert len(out(shared, "ls -d /proc/[0-9]*").splitlines()) < 10
