"""Shuts sandboxes with a network off from link-local addresses, where clouds hand out a machine's credentials.

The route is laid from outside into the sandbox's network namespace, and nothing in the sandbox has the privilege to
remove it. That needs an engine on this machine, root, and the programs `nsenter` and `ip`.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from functools import cache
from pathlib import Path

import docker

RANGE = "169.254.0.0/16"
PROGRAMS = ("nsenter", "ip")
_PATH = os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin"
_TIMEOUT_S = 10.0


def shut_off(client: docker.APIClient, container: str) -> bool:
    """Lay the route into a running container; False where that cannot be done.

    Args:
        client: Connection to the engine.
        container: Id of a container with a network.
    """
    programs = _programs()
    if programs is None or not client.base_url.startswith("http+docker://"):
        return False
    pid = int(client.inspect_container(container)["State"]["Pid"])
    if pid <= 0 or not _is_its_own(pid, container):
        return False
    nsenter, ip = programs
    argv = [nsenter, f"--net=/proc/{pid}/ns/net", ip, "route", "replace", "unreachable", RANGE]
    try:
        done = subprocess.run(argv, capture_output=True, timeout=_TIMEOUT_S, stdin=subprocess.DEVNULL, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


@cache
def _programs() -> tuple[str, str] | None:
    """`nsenter` and `ip`, where this process may use them."""
    if platform.system() != "Linux" or os.geteuid() != 0:
        return None
    nsenter, ip = (shutil.which(name, path=_PATH) for name in PROGRAMS)
    return (nsenter, ip) if nsenter and ip else None


def _is_its_own(pid: int, container: str) -> bool:
    """Whether the process is the container's, and not one of this machine that has the same number."""
    try:
        text = Path(f"/proc/{pid}/cgroup").read_text()
        here, there = (Path(f"/proc/{place}/ns/net").readlink() for place in ("self", pid))
    except OSError:
        return False
    return container in text and here != there
