"""How these tests run the repository's scripts: the real ones, in an environment of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def run_script(*command: str | Path, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run to the end, with `env` laid over this process's; an empty value unsets the variable."""
    merged = {key: value for key, value in {**os.environ, **(env or {})}.items() if value}
    return subprocess.run(
        [str(part) for part in command], env=merged, capture_output=True, text=True, stdin=subprocess.DEVNULL,
        timeout=240, check=False,
    )  # fmt: skip


@pytest.fixture
def run() -> Run:
    return run_script


@pytest.fixture
def root() -> Path:
    return ROOT


@pytest.fixture
def tool_dir(tmp_path: Path) -> Path:
    """A directory for PATH that holds what the scripts call, and no Python."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("bash", "cat", "cut", "dirname", "grep", "head", "id", "mkdir", "printf", "uname", "env", "cksum"):
        found = shutil.which(name)
        if found:
            (tools / name).symlink_to(found)
    return tools
