"""`envs-forge doctor` on the machine as it is, and on one that has nothing."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from envs_forge.sandbox import prerequisites
from envs_forge.sandbox.prerequisites import Check, checkout, make_or, oci_ready, ready
from scripts.conftest import run_script

NOTHING = {"PATH": "/nonexistent", "DOCKER_HOST": "unix:///nonexistent/docker.sock"}
DOCTOR = [sys.executable, "-c", "from envs_forge.cli import main; main()", "doctor"]


def test_without_anything_every_lack_comes_with_a_fix_and_exit_2():
    done = run_script(*DOCTOR, "--json", env=NOTHING)
    assert done.returncode == 2, done.stderr
    report = json.loads(done.stdout)
    assert report["ok"] is False
    assert report["engine"] is None
    checks = {check["name"]: check for check in report["checks"]}
    assert checks["python"]["ok"] is True
    for name in ("docker engine", "buildkit", "base image"):
        assert checks[name]["ok"] is False
    assert all(check["fix"] for check in checks.values() if not check["ok"])
    assert not any(check["fix"] for check in checks.values() if check["ok"])


def test_text_has_one_line_a_check_and_the_fix_below():
    done = run_script(*DOCTOR, env={**NOTHING, "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    lines = done.stdout.splitlines()
    engine = next(i for i, line in enumerate(lines) if line.startswith("NO docker engine"))
    assert re.match(r" +fix: \S", lines[engine + 1])
    assert "\x1b" not in done.stdout


def test_every_make_target_that_a_fix_names_exists():
    done = run_script(*DOCTOR, "--json", env=NOTHING)
    makefile = Path(__file__).resolve().parents[2] / "Makefile"
    targets = set(re.findall(r"^([a-z-]+):", makefile.read_text(), re.MULTILINE))
    named = re.findall(
        r"\bmake (?:-C \S+ )?([a-z-]+)", " ".join(c["fix"] or "" for c in json.loads(done.stdout)["checks"])
    )
    assert named
    assert set(named) <= targets


@pytest.mark.engine
def test_where_bundles_run_it_says_so():
    done = run_script(*DOCTOR, "--json")
    report = json.loads(done.stdout)
    assert (done.returncode, report["ok"]) == (0, True), report
    assert report["engine"] in ("oci", "docker")


def test_what_only_the_faster_engine_lacks_does_not_stop_anything():
    checks = [Check("docker engine", True, "there"), Check("runc", False, "gone", "apt-get install runc", "oci")]
    assert ready(checks)
    assert not oci_ready(checks)


def test_a_checkout_is_told_the_make_target_and_an_installation_the_step_by_hand(monkeypatch, tmp_path):
    assert checkout() is not None
    assert make_or("engine", "by hand").startswith("make ")
    monkeypatch.setattr(prerequisites, "__file__", str(tmp_path / "a/b/c/d.py"))
    assert make_or("engine", "by hand") == "by hand"
