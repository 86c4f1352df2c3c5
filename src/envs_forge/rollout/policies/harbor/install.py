"""Where Harbor is: a Python that has it, or a virtual environment of our own that is made when first needed."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from envs_forge.errors import PrerequisiteError, UserError
from envs_forge.sandbox.forking import start
from envs_forge.sandbox.uses import cache_root

PINNED = "0.26.0"
"""The version that is installed on demand, and that the contract test holds us against."""
OLDEST = (3, 12)
"""Harbor's oldest Python."""
SWITCHES = {"HARBOR_TELEMETRY": "0", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
VARIABLE = "HARBOR_PYTHON"
_ASK = "import importlib.metadata, json; print(json.dumps(importlib.metadata.version('harbor')))"
_PYTHON = "import json, sys; print(json.dumps(sys.version_info[:2]))"
_ASK_S = 60.0
_INSTALL_S = 1800.0


@dataclass(frozen=True, slots=True)
class Harbor:
    """A Harbor that can be called: its command, and its version as installed."""

    command: Path
    version: str


def find_harbor(python: str | None) -> Harbor:
    """Harbor of the Python that is given, of `HARBOR_PYTHON`, or of the cache directory, where it is installed.

    Args:
        python: Path of a Python interpreter that has Harbor, or None.

    Raises:
        UserError: The Python that was named does not have it.
        PrerequisiteError: There is none, and none can be installed here.
    """
    named = python or os.environ.get(VARIABLE)
    if named:
        found = _harbor_of(Path(named).expanduser())
        if found is None:
            raise UserError(f"{named} has no Harbor", fix=f"{named} -m pip install harbor=={PINNED}")
        return found
    place = cache_root() / f"harbor-{PINNED}"
    return _harbor_of(place / "bin" / "python") or _install(place)


def _harbor_of(python: Path) -> Harbor | None:
    """What a Python has; its command lies beside it."""
    command = python.parent / "harbor"
    version = _asked(python, _ASK) if command.is_file() else None
    return Harbor(command, version) if isinstance(version, str) else None


def _install(place: Path) -> Harbor:
    """A virtual environment with the pinned version. What an earlier try left half done is cleared away."""
    base = next(_pythons(), None)
    if base is None:
        raise PrerequisiteError(
            "the policy harbor: needs a Python of version 3.12 or newer beside this one, and there is none",
            fix=f"install one, or set {VARIABLE} to a Python that has harbor=={PINNED}",
        )
    python = place / "bin" / "python"
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.with_name(f"{place.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (found := _harbor_of(python)) is not None:
            return found
        print(f"installing Harbor {PINNED} into {place}: some minutes, once", file=sys.stderr, flush=True)
        _must([str(base), "-m", "venv", "--clear", str(place)])
        _must([str(python), "-m", "pip", "install", "--quiet", f"harbor=={PINNED}"])
    found = _harbor_of(python)
    if found is None:
        raise PrerequisiteError(f"Harbor was installed into {place} and does not answer", fix=f"set {VARIABLE}")
    return found


def _must(command: list[str]) -> None:
    code, output = _run(command, _INSTALL_S)
    if code != 0:
        said = output.decode(errors="replace").strip().splitlines()
        raise PrerequisiteError(
            f"Harbor could not be installed: {said[-1] if said else 'no output'}",
            fix=f"set {VARIABLE} to a Python that has harbor=={PINNED}",
        )


def _pythons() -> Iterator[Path]:
    """Interpreters that are new enough, those on the path first, then those of pyenv."""
    names = [f"python3.{minor}" for minor in range(OLDEST[1], OLDEST[1] + 4)]
    found = [shutil.which(name) for name in (*names, "python3")]
    managed = Path(os.environ.get("PYENV_ROOT") or "~/.pyenv").expanduser().glob("versions/3.*/bin/python3")
    for path in [*(Path(name) for name in found if name), *sorted(managed)]:
        version = _asked(path, _PYTHON)
        if isinstance(version, list) and tuple(version) >= OLDEST:
            yield path


def _asked(python: Path, code: str) -> object:
    """What a Python prints as JSON; None where it cannot be asked. A shim may be there without its interpreter."""
    try:
        status, output = _run([str(python), "-c", code], _ASK_S)
        return json.loads(output) if status == 0 else None
    except (OSError, ValueError):
        return None


def _run(command: list[str], timeout_s: float) -> tuple[int, bytes]:
    """Exit code and output, both streams in one; killed after the time-out."""
    with start(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        try:
            output, _ = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            process.kill()
            output, _ = process.communicate()
        return process.returncode, output
