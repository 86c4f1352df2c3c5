"""Whether sandboxes have a user namespace, and why not. For reports: nothing depends on the answer."""

from __future__ import annotations

import re
from pathlib import Path

FIRST_RUNC = (1, 2)
"""Earlier ones cannot shift the ids of a root filesystem that somebody else has mounted."""
LIMIT = Path("/proc/sys/user/max_user_namespaces")


def why_no_user_namespace(runc_version: str) -> str:
    """The first reason that holds on this machine.

    Args:
        runc_version: First line of `runc --version`.
    """
    try:
        if LIMIT.read_text().strip() == "0":
            return "the kernel allows no user namespaces (user.max_user_namespaces is 0)"
    except OSError:
        return "the kernel has no user namespaces"
    found = re.search(r"(\d+)\.(\d+)", runc_version)
    version = (int(found[1]), int(found[2])) if found else (0, 0)
    if version < FIRST_RUNC:
        return f"runc {'.'.join(map(str, version))} cannot shift the ids of a root filesystem (1.2 can)"
    return "this engine mounts image layers as they lie and does not shift their ids"
