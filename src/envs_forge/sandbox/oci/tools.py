"""The host's programs that the engine calls."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache

from envs_forge.errors import DiskFullError, EngineError, PrerequisiteError
from envs_forge.sandbox.forking import start

PACKAGES = {"runc": "runc", "mke2fs": "e2fsprogs", "mount": "mount"}
"""Program → Debian package that holds it."""
RUN_S = 120.0


@cache
def tool(name: str) -> str:
    """Absolute path of a program, `sbin` directories included.

    Raises:
        PrerequisiteError: It is not installed.
    """
    found = shutil.which(name, path=os.environ.get("PATH", os.defpath) + ":/usr/local/sbin:/usr/sbin:/sbin")
    if found is None:
        raise PrerequisiteError(f"{name} is not installed", fix=f"apt-get install {PACKAGES.get(name, name)}")
    return found


def run(name: str, *arguments: str) -> str:
    """Run a program to its end, out of reach of the terminal's Ctrl-C, and return what it printed.

    Raises:
        EngineError: It failed.
        DiskFullError: It failed for want of space.
    """
    try:
        process = start(
            [tool(name), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise EngineError(f"{name} could not be run: {error}") from error
    with process:
        try:
            out, err = (text.decode(errors="replace") for text in process.communicate(timeout=RUN_S))
        except BaseException as error:
            process.kill()
            if isinstance(error, subprocess.TimeoutExpired):
                raise EngineError(f"{name} did not end in {RUN_S:g} s", code="timeout") from error
            raise
    if process.returncode == 0:
        return out
    said = (err or out).strip()
    if "No space left on device" in said:
        raise DiskFullError(f"the disk is full: {name} failed")
    raise EngineError(f"{name} failed: {said[:500]}")
