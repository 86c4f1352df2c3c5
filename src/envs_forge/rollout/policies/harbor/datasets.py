"""Datasets of a registry, downloaded by Harbor into the cache directory, to be read like any directory of tasks."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

from envs_forge.errors import PrerequisiteError, UserError
from envs_forge.files import new_directory
from envs_forge.rollout.hostprocess import HostResult, run_host_program
from envs_forge.rollout.policies.harbor.install import SWITCHES, Harbor
from envs_forge.sandbox.uses import cache_root

_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?(@[\w.:-]+)?")
_DOWNLOAD_S = 3600.0
_OUTPUT_LIMIT = 64 << 10
_FIX = (
    "check the name, and whether the network reaches the registry; "
    "else download it elsewhere with `harbor download` and give its directory with -p"
)


def fetch_dataset(name: str, harbor: Harbor, *, registry: str | None = None) -> tuple[Path, ...]:
    """Directories that hold the tasks of a dataset. What was downloaded once is used again.

    Args:
        name: As Harbor names datasets: `name@version` or `organisation/name@reference`.
        harbor: The Harbor that downloads.
        registry: URL or file of a registry. None: Harbor's own.

    Raises:
        UserError: This is no name of a dataset, or there is no such registry file.
        PrerequisiteError: It could not be downloaded.
    """
    if _NAME.fullmatch(name) is None:
        raise UserError(f"{name!r} is no name of a dataset", fix="write it like terminal-bench@2.0")
    place, options = _place(name, registry)
    if not place.is_dir():
        with new_directory(place) as new:
            command = [str(harbor.command), "download", name, "--export", "--output-dir", str(new), *options]
            done = _run(command, new)
            if done.exit_code != 0:
                raise PrerequisiteError(f"the dataset {name} could not be downloaded: {_said(done)}", fix=_FIX)
            if not list(_holders(new)):
                raise PrerequisiteError(
                    f"the dataset {name} came without tasks: Harbor does not copy those that are directories beside "
                    "its registry",
                    fix="give their directory with -p",
                )
    return tuple(_holders(place))


def _place(name: str, registry: str | None) -> tuple[Path, list[str]]:
    """Where a dataset is kept, and Harbor's options for its registry. Another content of a file is another registry."""
    options: list[str] = []
    content = b""
    if registry is not None and "://" in registry:
        options = ["--registry-url", registry]
    elif registry is not None:
        file = Path(registry).absolute()
        if not file.is_file():
            raise UserError(f"{registry}: no such registry file", fix="name a JSON file or a URL")
        options, content = ["--registry-path", str(file)], file.read_bytes()
    key = hashlib.sha256("\0".join((name, *options)).encode() + b"\0" + content).hexdigest()[:12]
    return cache_root() / "datasets" / f"{re.sub(r'[^A-Za-z0-9.]+', '-', name)}-{key}", options


def _run(command: list[str], folder: Path) -> HostResult:
    try:
        return run_host_program(
            command,
            cwd=folder,
            env={**os.environ, **SWITCHES, "NO_COLOR": "1"},
            timeout_s=_DOWNLOAD_S,
            output_limit=_OUTPUT_LIMIT,
        )
    except OSError as error:
        raise PrerequisiteError(f"harbor could not be started: {error}", fix="check harbor.python") from error


def _said(done: HostResult) -> str:
    """Harbor's last words, without its progress bar."""
    if done.exit_code is None:
        return f"it was not done within {done.duration_s:.0f} s"
    lines = [line.strip() for line in done.tail.decode(errors="replace").splitlines()]
    last = next((line for line in reversed(lines) if line), "no reason given")
    return last.rpartition("Error: ")[2] if "Error: Dataset" in last else last


def _holders(folder: Path) -> Iterator[Path]:
    """Directories with tasks in them, from the top down; nothing within a task is looked at."""
    inside = sorted(path for path in folder.iterdir() if path.is_dir())
    if any((path / "task.toml").is_file() for path in inside):
        yield folder
        return
    for path in inside:
        yield from _holders(path)
