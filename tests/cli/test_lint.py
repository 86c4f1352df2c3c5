"""`lint` on directories, without and with warnings; and the program as a module."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from run.test_seeds import task

from .conftest import Forge


def test_quiet_shows_errors_only(forge: Forge, here: Path) -> None:
    task(here / "pool", "good")
    task(here / "pool", "toothless", tests=False)
    loud, quiet = forge("lint", "-p", "pool"), forge("lint", "-p", "pool", "-q")
    assert (loud.code, quiet.code) == (1, 1)
    assert " warning " in loud.out
    assert " warning " not in quiet.out
    assert "error tests-missing" in quiet.out
    assert loud.out.splitlines()[-1] == quiet.out.splitlines()[-1]
    assert all(f["severity"] == "error" for t in forge("lint", "-p", "pool", "-q", "--json").json["tasks"]
               for f in t["findings"])  # fmt: skip


def test_the_program_as_a_module() -> None:
    said = subprocess.run(
        [sys.executable, "-m", "envs_forge", "lint", "--help"], capture_output=True, text=True, check=True
    )
    assert said.stdout.startswith("Usage: envs-forge lint")
