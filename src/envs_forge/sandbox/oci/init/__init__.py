"""PID 1 of a sandbox: a small static program of our own (`init.c`), handed to runc as a sealed memory file."""

from __future__ import annotations

import fcntl
import os
import platform
import threading
from importlib import resources

from envs_forge.errors import PrerequisiteError

SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE

_lock = threading.Lock()
_descriptors: list[int] = []


def program() -> int:
    """A descriptor of the program, read-only and sealed, so that no sandbox can ever change it. Never closed.

    Raises:
        PrerequisiteError: It is not built for this machine.
    """
    with _lock:
        if not _descriptors:
            _descriptors.append(_sealed(code()))
        return _descriptors[0]


def code() -> bytes:
    """The program's bytes.

    Raises:
        PrerequisiteError: It is not built for this machine.
    """
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(platform.machine(), platform.machine())
    binary = resources.files(__package__).joinpath(f"init.{machine}")
    if not binary.is_file():
        raise PrerequisiteError(
            f"the oci engine has no init program for {machine}", fix="use the docker engine, or port init.c"
        )
    return binary.read_bytes()


def _sealed(content: bytes) -> int:
    writable = os.memfd_create("envs-forge-init", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.write(writable, content)
        os.fchmod(writable, 0o555)
        fcntl.fcntl(writable, fcntl.F_ADD_SEALS, SEALS)
        return os.open(f"/proc/self/fd/{writable}", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        os.close(writable)
