"""Finds out whether the engine works on this machine, by running a sandbox. Once a boot: the answer is kept."""

from __future__ import annotations

import hashlib
import os
import platform
from pathlib import Path

from envs_forge.errors import ForgeError, PrerequisiteError
from envs_forge.sandbox.engine import Image, Limits, SandboxSpec
from envs_forge.sandbox.oci import init
from envs_forge.sandbox.oci.cgroups import version
from envs_forge.sandbox.oci.drain import Drain
from envs_forge.sandbox.oci.layers import Layers
from envs_forge.sandbox.oci.reaping import remove_home
from envs_forge.sandbox.oci.sandbox import OciSandbox
from envs_forge.sandbox.oci.slots import SlotPool
from envs_forge.sandbox.oci.snapshot import Base
from envs_forge.sandbox.oci.state import Home, make_home, state_root
from envs_forge.sandbox.oci.tools import PACKAGES, tool

CONTAINER_FIX = "use the docker engine, or run where this is allowed (in a container: --privileged)"
LIMITS = Limits(memory_mb=64, disk_mb=16)


def probe(root: Path | None = None) -> None:
    """See that sandboxes can be made.

    Args:
        root: State directory; default `state_root()`.

    Raises:
        PrerequisiteError: They cannot; says exactly why, and what to do.
    """
    root = root or state_root()
    if platform.system() != "Linux":
        raise PrerequisiteError("the oci engine needs Linux", fix="use the docker engine")
    if os.geteuid() != 0:
        raise PrerequisiteError("the oci engine needs root", fix="run as root, or use the docker engine")
    for name in PACKAGES:
        tool(name)
    if "\toverlay\n" not in Path("/proc/filesystems").read_text():
        raise PrerequisiteError("the kernel has no overlayfs", fix="modprobe overlay")
    if version() == "none":
        raise PrerequisiteError("no control groups with a memory limit are mounted", fix=CONTAINER_FIX)
    answer, key = root / "probed", _key()
    if _read(answer) == key:
        return
    try:
        _run_one(root)
    except PrerequisiteError:
        raise
    except ForgeError as error:
        raise PrerequisiteError(f"the oci engine cannot run here: {error.message}", fix=CONTAINER_FIX) from error
    answer.write_text(key)


def _key() -> str:
    """What the answer depends on: this boot, runc, our PID 1, and who asks (root in another container may not)."""
    runc = Path(tool("runc")).stat()
    parts = [
        _read(Path("/proc/sys/kernel/random/boot_id")).strip(),
        f"{runc.st_size}-{runc.st_mtime_ns}",
        hashlib.sha256(init.code()).hexdigest(),
        str(Path("/proc/self/ns/mnt").readlink()),
        next((line for line in _read(Path("/proc/self/status")).splitlines() if line.startswith("CapEff")), ""),
    ]
    return " ".join(parts)


def _run_one(root: Path) -> None:
    """Mount, start, run a command, destroy; the image has one file, the program that is PID 1."""
    home = make_home(root)
    pool = SlotPool(home.slots)
    try:
        sandbox = _sandbox(home, pool)
        try:
            sandbox.start()
            done = sandbox.exec(["/probe"], timeout=30)
        finally:
            sandbox.destroy()
        if done.exit_code != 0:
            said = done.stderr.decode(errors="replace").strip()
            raise PrerequisiteError(f"a command in a sandbox ended with {done.exit_code}: {said}", fix=CONTAINER_FIX)
    finally:
        pool.close()
        remove_home(home)


def _sandbox(home: Home, pool: SlotPool) -> OciSandbox:
    layer = home.path / "probe"
    layer.mkdir(mode=0o755)
    (layer / "probe").write_bytes(init.code())
    (layer / "probe").chmod(0o755)
    return OciSandbox(
        "envs-forge-" + home.path.name.replace(".", "-")[-60:],
        home,
        slots=pool,
        drain=Drain(),
        base=Base((layer,), Layers((layer,))),
        image=Image(id="", tag="", workdir="/"),
        spec=SandboxSpec(limits=LIMITS),
        snapshots=set(),
        on_destroyed=lambda: None,
    )


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
