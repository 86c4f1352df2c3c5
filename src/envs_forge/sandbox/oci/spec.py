"""The runc specification of one sandbox: namespaces, mounts, limits and what is taken away."""

from __future__ import annotations

import os
from typing import Any

from envs_forge.sandbox.engine import Limits, MiB
from envs_forge.sandbox.oci.cgroups import can_limit_swap
from envs_forge.sandbox.oci.seccomp import profile

_CAPABILITIES = """
    AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE NET_RAW SETFCAP SETGID SETPCAP SETUID
    SYS_CHROOT
"""
CAPABILITIES = [f"CAP_{name}" for name in _CAPABILITIES.split()]
"""Docker's default set. Device nodes are useless all the same: the root filesystem is mounted `nodev`."""

NAMESPACES = ("pid", "mount", "ipc", "uts", "network", "cgroup")

_MASKED = """
    /proc/acpi /proc/asound /proc/interrupts /proc/kcore /proc/keys /proc/latency_stats /proc/sched_debug /proc/scsi
    /proc/timer_list /proc/timer_stats /sys/devices/virtual/powercap /sys/firmware
"""
_READ_ONLY = "/proc/bus /proc/fs /proc/irq /proc/sys /proc/sysrq-trigger"
MASKED, READ_ONLY = _MASKED.split(), _READ_ONLY.split()

SHM_BYTES = 64 * MiB
CPU_PERIOD = 100_000
MOST_QUOTA = 1 << 40
OOM_SCORE = 500
"""When the whole machine runs out of memory, sandboxes go before whoever runs them."""


def runc_spec(root: str, argv: list[str], hostname: str, limits: Limits, cgroup: str) -> dict[str, Any]:
    """Everything that runc needs to know.

    Args:
        root: The mounted root filesystem, on the host.
        argv: What PID 1 is.
        hostname: Host name inside.
        limits: Resource limits; the disk limit is not runc's matter.
        cgroup: Path below each cgroup tree.
    """
    return {
        "ociVersion": "1.0.2",
        "process": {
            "user": {"uid": 0, "gid": 0},
            "args": argv,
            "env": ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
            "cwd": "/",
            "capabilities": dict.fromkeys(("bounding", "effective", "permitted"), CAPABILITIES),
            "noNewPrivileges": True,
            "oomScoreAdj": OOM_SCORE,
            "rlimits": [{"type": "RLIMIT_CORE", "soft": 0, "hard": 0}],
        },
        "root": {"path": root, "readonly": False},
        "hostname": hostname,
        "mounts": _mounts(),
        "linux": {
            "namespaces": [{"type": name} for name in NAMESPACES],
            "cgroupsPath": cgroup,
            "resources": _resources(limits),
            "seccomp": profile(),
            "maskedPaths": MASKED,
            "readonlyPaths": READ_ONLY,
        },
    }


def _mounts() -> list[dict[str, Any]]:
    quiet = ["nosuid", "noexec", "nodev"]
    return [
        _mount("/proc", "proc", quiet),
        _mount("/dev", "tmpfs", ["nosuid", "strictatime", "mode=755", "size=65536k"]),
        _mount("/dev/pts", "devpts", ["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", "gid=5"]),
        _mount("/dev/shm", "tmpfs", [*quiet, "mode=1777", f"size={SHM_BYTES}"]),
        _mount("/dev/mqueue", "mqueue", quiet),
        _mount("/sys", "sysfs", [*quiet, "ro"]),
    ]


def _mount(where: str, kind: str, options: list[str]) -> dict[str, Any]:
    return {"destination": where, "type": kind, "source": kind, "options": options}


def _resources(limits: Limits) -> dict[str, Any]:
    memory = limits.memory_mb * MiB
    swap = {"swap": memory} if can_limit_swap() else {}
    return {
        "devices": [{"allow": False, "access": "rwm"}],
        "memory": {"limit": memory, **swap},
        "pids": {"limit": limits.pids + 1},  # PID 1 is ours
        "cpu": {
            "quota": min(max(int(limits.cpus * CPU_PERIOD), 1000), MOST_QUOTA),
            "period": CPU_PERIOD,
            **({} if limits.cores is None else {"cpus": _processors(limits.cores)}),
        },
    }


def _processors(most: int) -> str:
    """At most `most` of the processors that this process may use, as a list for cpuset(7)."""
    return ",".join(str(number) for number in sorted(os.sched_getaffinity(0))[-most:])
