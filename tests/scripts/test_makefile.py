from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from scripts.conftest import run_script

ROOT = Path(__file__).resolve().parents[2]
MAKEFILE = (ROOT / "Makefile").read_text()
TARGETS = ["demo", "test", "test-slow", "setup", "engine", "engine-stop", "base-image", "lint", "clean", "help"]
SCRIPTS = [*ROOT.glob("scripts/**/*.sh"), ROOT / ".ci/run"]
NEWER_THAN_3_81 = (
    r"^\.ONESHELL",
    r"!=",
    r"\$\(file ",
    r"::=",
    r"\$\(guile ",
    r"^undefine ",
    r"^load ",
    r"\.RECIPEPREFIX",
)


@pytest.mark.parametrize("target", TARGETS)
def test_target_exists_and_resolves(target):
    done = run_script("make", "-C", ROOT, "--dry-run", target)
    assert done.returncode == 0, done.stderr


def test_help_names_every_target_that_a_reader_needs():
    shown = run_script("make", "-C", ROOT, "help").stdout
    assert all(f"make {target} " in shown for target in TARGETS)


def test_needs_no_make_newer_than_3_81():
    assert not [pattern for pattern in NEWER_THAN_3_81 if re.search(pattern, MAKEFILE, re.MULTILINE)]


def test_never_calls_sudo_by_itself():
    for script in SCRIPTS:
        for line in script.read_text().splitlines():
            assert not re.match(r"\s*(exec )?sudo ", line), f"{script.name}: {line}"


def test_every_script_stops_at_the_first_error_and_can_be_run():
    for script in SCRIPTS:
        text = script.read_text()
        if "Sourced, never run" in text:
            continue
        assert re.search(r"^set -e?u", text, re.MULTILINE), script
        assert script.stat().st_mode & 0o111, script


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="shellcheck is not installed")
def test_scripts_pass_shellcheck():
    done = run_script("shellcheck", "-x", "-P", ROOT, *SCRIPTS)
    assert done.returncode == 0, done.stdout
