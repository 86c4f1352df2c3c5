"""The seccomp profile of every sandbox: which system calls fail, and why.

The profile allows by default and lists what it denies. An allow list of some 350 calls costs 30 ms a sandbox, since
runc compiles it anew each time; this one costs 2. Most of what is denied here is also out of reach without the
capabilities that a sandbox lacks, so the list is a second wall. x32 calls are refused as a whole.
"""

from __future__ import annotations

import errno
import platform
from functools import cache
from typing import Any

_DENIED = {
    "mounts": """
        mount umount umount2 pivot_root fsopen fsconfig fsmount fspick move_mount open_tree open_tree_attr
        mount_setattr statmount listmount
    """,
    "namespaces": "unshare setns",
    "kernel code and its secrets": """
        bpf perf_event_open init_module finit_module delete_module kexec_load kexec_file_load lookup_dcookie syslog
    """,
    "keys, which are in no namespace": "add_key request_key keyctl",
    "the machine": "reboot swapon swapoff acct quotactl quotactl_fd iopl ioperm vhangup",
    "the clock": "clock_settime clock_settime64 clock_adjtime clock_adjtime64 settimeofday adjtimex stime",
    "files behind the mounts": "open_by_handle_at fanotify_init",
    "large attack surface": """
        userfaultfd io_uring_setup io_uring_enter io_uring_register vm86 vm86old modify_ldt sysfs ustat uselib
    """,
    "memory placement": """
        get_mempolicy set_mempolicy set_mempolicy_home_node mbind move_pages migrate_pages kcmp
    """,
}
DENIED = {reason: names.split() for reason, names in _DENIED.items()}
"""Reason → calls that fail with EPERM."""

NEW_NAMESPACES = {
    "mount": 0x00020000,
    "cgroup": 0x02000000,
    "uts": 0x04000000,
    "ipc": 0x08000000,
    "user": 0x10000000,
    "pid": 0x20000000,
    "net": 0x40000000,
}
"""Flags of clone(2)."""

AF_VSOCK = 40
"""Sockets to the hypervisor: no network namespace holds them back."""
SYS_SOCKET = 1
"""socketcall(2) of 32-bit programs hides the family from the filter."""

_ARCHITECTURES = {
    "x86_64": ["SCMP_ARCH_X86_64", "SCMP_ARCH_X86"],
    "aarch64": ["SCMP_ARCH_AARCH64", "SCMP_ARCH_ARM"],
}


@cache
def profile() -> dict[str, Any]:
    """The `linux.seccomp` part of a runc spec."""
    rules = [_rule([name for names in DENIED.values() for name in names])]
    rules += [_rule(["clone"], index=0, value=flag, masked=True) for flag in NEW_NAMESPACES.values()]
    rules.append(_rule(["clone3"], error=errno.ENOSYS))  # its flags cannot be looked at; libc falls back to clone
    rules.append(_rule(["socket"], index=0, value=AF_VSOCK))
    rules.append(_rule(["socketcall"], index=0, value=SYS_SOCKET))
    return {
        "defaultAction": "SCMP_ACT_ALLOW",
        "architectures": _ARCHITECTURES.get(platform.machine(), []),
        "syscalls": rules,
    }


def _rule(
    names: list[str], *, error: int = errno.EPERM, index: int | None = None, value: int = 0, masked: bool = False
) -> dict[str, Any]:
    rule: dict[str, Any] = {"names": names, "action": "SCMP_ACT_ERRNO", "errnoRet": error}
    if index is not None:
        operation = "SCMP_CMP_MASKED_EQ" if masked else "SCMP_CMP_EQ"
        rule["args"] = [{"index": index, "value": value, "valueTwo": value if masked else 0, "op": operation}]
    return rule
