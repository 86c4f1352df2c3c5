"""What this machine needs, as data: each check says whether it is there and, if not, the exact fix.

Nothing here changes the machine, and every check runs whatever else is missing. The docker engine with BuildKit and
a base image are required; what only the faster `oci` engine needs is not, since docker serves in its place.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import docker

GB = 10**9
PYTHON = (3, 11)
DISK_GB = 5
MEMORY_GB = 2
BASE_IMAGE = "envs-forge/base:1"
"""Local image that stands in for public base images; `scripts/base_image.sh` makes it."""
UPSTREAM_IMAGE = "debian:12.11-slim"
COST_WITHOUT_OCI = "the docker engine serves instead: about 0.5 s a trial, not 0.04 s"

Group = Literal["needed", "oci", "optional"]


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at.

    Attributes:
        name: What it is, in a word or two.
        ok: Whether it is there.
        detail: What was found, or what is wrong.
        fix: The command or step that mends it; None when ok.
        group: `needed` for everything, only by the `oci` engine, or `optional`.
    """

    name: str
    ok: bool
    detail: str
    fix: str | None = None
    group: Group = "needed"


def check_all() -> list[Check]:
    """Look at everything. Takes about a second, a few more when a registry hangs."""
    return [_python(), *_engine(), _disk(), _memory(), *_oci(), _compose(), _harbor()]


def ready(checks: list[Check]) -> bool:
    """Whether bundles can be run on this machine."""
    return all(check.ok for check in checks if check.group == "needed")


def oci_ready(checks: list[Check]) -> bool:
    """Whether the faster engine can be used as well."""
    return all(check.ok for check in checks if check.group in ("needed", "oci"))


def _result(name: str, ok: bool, detail: str, fix: str, group: Group = "needed") -> Check:
    return Check(name, ok, detail, None if ok else fix, group)


def checkout() -> Path | None:
    """The source tree that this package is run from, or None when it was installed from a wheel."""
    root = Path(__file__).resolve().parents[3]
    return root if (root / "Makefile").is_file() and (root / "scripts" / "engine.sh").is_file() else None


def make_or(target: str, otherwise: str) -> str:
    """The fix for this reader: a make target in a source tree, else the step by hand."""
    root = checkout()
    if root is None:
        return otherwise
    return f"make {target}" if root == Path.cwd() else f"make -C {root} {target}"


def engine_fix() -> str:
    """How this reader gets a container engine."""
    if platform.system() == "Darwin":
        return "start Docker Desktop, or: brew install colima docker docker-buildx && colima start"
    return make_or("engine", "start Docker; if there is none: apt-get install docker.io docker-buildx")


def _python() -> Check:
    found = platform.python_version()
    return _result(
        "python", sys.version_info[:2] >= PYTHON, found, "make a virtual environment with Python 3.11 or newer"
    )


def _engine() -> list[Check]:
    """The docker engine, its build client and the base image."""
    from envs_forge.errors import ForgeError
    from envs_forge.sandbox.docker.connection import connect, translated

    try:
        client = connect()
        with translated("say its version"):
            version = client.version()
    except ForgeError as error:
        detail, fix = _lack(error.message)
        base = Check("base image", False, "not known until an engine answers", fix)
        return [Check("docker engine", False, detail, fix), _buildkit(), base]
    detail = f"{version.get('Version', '?')} on {version.get('Os', '?')}/{version.get('Arch', '?')}"
    return [Check("docker engine", True, detail), _buildkit(), _base_image(client)]


def _lack(said: str) -> tuple[str, str]:
    """What the connection's error means, and its fix."""
    if "PermissionError" in said or "ermission denied" in said:
        return "an engine is there, but this user may not use it", "usermod -aG docker $USER, then log in again"
    if "FileNotFoundError" in said or "refused" in said:
        return "no engine answers", engine_fix()
    return said, engine_fix()


def _buildkit() -> Check:
    fix = make_or("engine", "install the docker client and its buildx plugin: apt-get install docker-cli docker-buildx")
    found = _output("docker", "buildx", "version")
    lack = "the docker client has no buildx" if shutil.which("docker") else "no docker client"
    detail = " ".join(found.split()[:2]) if found else lack
    return _result("buildkit", found is not None, detail, fix)


def _base_image(client: docker.APIClient) -> Check:
    from docker.errors import DockerException
    from requests import RequestException

    from envs_forge.sandbox.images.registry import Registries

    try:
        labels = (client.inspect_image(BASE_IMAGE)["Config"] or {}).get("Labels") or {}
        stand_in = labels.get("envs-forge.stand-in")
        return Check("base image", True, BASE_IMAGE + (f", a stand-in: {stand_in}" if stand_in else ""))
    except (DockerException, RequestException):
        pass
    if Registries().has(UPSTREAM_IMAGE):
        return Check("base image", True, "not made, but a registry is in reach: images are pulled when needed")
    fix = make_or("base-image", f"docker pull {UPSTREAM_IMAGE}, or: docker tag YOUR_DEBIAN_IMAGE {BASE_IMAGE}")
    return Check("base image", False, f"no {BASE_IMAGE} and no registry in reach", fix)


def _disk() -> Check:
    places = [Path.cwd(), Path(os.environ.get("TMPDIR", "/tmp")), Path("/var/lib")]
    free, place = min((shutil.disk_usage(place).free, str(place)) for place in places if place.is_dir())
    return _result(
        "disk", free >= DISK_GB * GB, f"{free / GB:.0f} GB free", f"free {DISK_GB} GB on the disk of {place}"
    )


def _memory() -> Check:
    available = _available_memory()
    if available is None:
        return Check("memory", True, "not known on this system")
    detail = f"{available / GB:.1f} GB available"
    return _result("memory", available >= MEMORY_GB * GB, detail, f"free {MEMORY_GB} GB, or run with -n 1")


def _available_memory() -> int | None:
    """Bytes, or None where the system does not tell."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    return None


def _oci() -> Iterator[Check]:
    """What only the oci engine needs; where it is no Linux or not root, that alone is worth saying."""
    gates: tuple[tuple[str, bool, str], ...] = (
        ("linux", platform.system() == "Linux", "use the docker engine here"),
        ("root", hasattr(os, "geteuid") and os.geteuid() == 0, "run as root"),
    )
    for name, ok, fix in gates:
        yield _result(name, ok, "yes" if ok else f"no; {COST_WITHOUT_OCI}", fix, "oci")
        if not ok:
            return
    parts = [check() for check in (_tools, _overlayfs, _cgroups, _loop_devices)]
    yield from parts
    if all(part.ok for part in parts):
        yield _sandbox()
        yield _user_namespace()


def _tools() -> Check:
    from envs_forge.sandbox.oci.tools import PACKAGES

    missing = [tool for tool in PACKAGES if shutil.which(tool, path=_system_path()) is None]
    if not missing:
        return Check("runc", True, (_output("runc", "--version") or "").partition("\n")[0], group="oci")
    packages = " ".join(sorted({PACKAGES[tool] for tool in missing}))
    return Check("runc", False, f"not installed: {', '.join(missing)}", f"apt-get install {packages}", "oci")


def _sandbox() -> Check:
    """All parts are there; this runs a sandbox made of them, once a boot."""
    from envs_forge.errors import PrerequisiteError
    from envs_forge.sandbox.oci.probing import probe

    try:
        probe()
    except (PrerequisiteError, OSError) as error:
        message, fix = (error.message, error.fix) if isinstance(error, PrerequisiteError) else (str(error), None)
        return Check("oci sandbox", False, message, fix or "use the docker engine here", "oci")
    return Check("oci sandbox", True, "runs", group="oci")


def _user_namespace() -> Check:
    """No condition: sandboxes hold without one. Said because it is one more wall where there is one."""
    from envs_forge.sandbox.oci.userns import why_no_user_namespace

    runc = (_output("runc", "--version") or "").partition("\n")[0]
    return Check("user namespace", True, f"not used: {why_no_user_namespace(runc)}", group="oci")


def _overlayfs() -> Check:
    known = "\toverlay\n" in _text("/proc/filesystems")
    return _result("overlayfs", known, "the kernel has it" if known else "not loaded", "modprobe overlay", "oci")


def _cgroups() -> Check:
    """Memory, pids and cpu limits can be set: in cgroup v2's one tree, or in v1's trees."""
    root = Path("/sys/fs/cgroup")
    wanted = ("memory", "pids", "cpu")
    controllers = _text(root / "cgroup.controllers").split()
    version = 2 if controllers else 1
    missing = [name for name in wanted if (name not in controllers if controllers else not (root / name).is_dir())]
    if not missing and os.access(root if controllers else root / "memory", os.W_OK):
        return Check("cgroups", True, f"v{version} with {', '.join(wanted)}", group="oci")
    detail = f"v{version} without {', '.join(missing)}" if missing else f"v{version}, but read-only"
    return Check("cgroups", False, detail, "run where cgroups are writable (in a container: --privileged)", "oci")


def _loop_devices() -> Check:
    """The disk cap of a sandbox is a file with a filesystem in it."""
    usable = os.access("/dev/loop-control", os.R_OK | os.W_OK)
    return _result("loop devices", usable, "usable" if usable else "no /dev/loop-control", "modprobe loop", "oci")


def _compose() -> Check:
    found = _output("docker", "compose", "version", "--short")
    detail = (found or "").strip() or "not installed; only tasks of several containers need it"
    return _result("docker compose", found is not None, detail, "apt-get install docker-compose", "optional")


def _harbor() -> Check:
    found = shutil.which("harbor")
    detail = found or "not installed; only comparisons and registry datasets need it"
    return _result("harbor", found is not None, detail, "uv tool install harbor (Python 3.12 or newer)", "optional")


def _system_path() -> str:
    return os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin"


def _text(path: str | Path) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""


def _output(*command: str) -> str | None:
    """What a command prints; None when it is missing, fails or hangs."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=10, stdin=subprocess.DEVNULL, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
