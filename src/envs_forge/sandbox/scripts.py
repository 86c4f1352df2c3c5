"""Runs a bundle's scripts as Harbor runs them, and gathers what they need from the bundle."""

from __future__ import annotations

from collections.abc import Mapping

from envs_forge.bundle.links import links_of, resolve
from envs_forge.bundle.model import BundleFile

LAUNCH = (
    'cd "$2" 2>/dev/null || cd /; exec 2>&1; '
    'if command -v bash >/dev/null 2>&1; then exec bash -c "$1"; else exec /bin/sh -c "$1"; fi'
)
"""A shell runs the script as a command: its shebang counts, and without one the shell itself reads it. That shell is
bash where the image has it. A CRLF after a shebang fails here as it does there. Standard error joins the output."""


def launch(script: str, workdir: str) -> list[str]:
    """The argv that runs `script` in `workdir`, or in `/` where that is gone. To be run with `cwd="/"`."""
    return ["/bin/sh", "-c", LAUNCH, "sh", script, workdir]


def folder_files(files: Mapping[str, BundleFile], folder: str) -> dict[str, BundleFile]:
    """The files under one top folder of a bundle, by their path in the bundle, sorted."""
    return {path: files[path] for path in sorted(files) if path.startswith(f"{folder}/")}


def real_path(files: Mapping[str, BundleFile], path: str) -> str:
    """Where `path` leads when links inside the bundle are followed; itself where they lead nowhere."""
    try:
        return resolve(path, links_of(files))
    except ValueError:
        return path


def tail(output: bytes, characters: int = 8000) -> str:
    """The last part of an output, decoded with replacement, for people to read."""
    return output[-4 * characters :].decode(errors="replace")[-characters:]
