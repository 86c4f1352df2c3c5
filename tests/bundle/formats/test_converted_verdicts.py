"""A converted task gets the verdict of the original, on real containers."""

from __future__ import annotations

from pathlib import Path

import pytest

from envs_forge.bundle.formats.conversion import Outcome, convert_all
from envs_forge.gold.options import VerifyOptions
from envs_forge.gold.verdict import Decision, Verdict
from envs_forge.gold.verify import verify_directory
from envs_forge.sandbox.runtime import Runtime

from .test_terminal_bench import COMPOSE, Changes, task

pytestmark = pytest.mark.engine

BASE: Changes = {
    "Dockerfile": "FROM debian:12.11-slim\nWORKDIR /app\nCOPY data/ /app/\n",
    "docker-compose.yaml": COMPOSE + "    network_mode: none\n",
}
TYPED = "- command: cd /app\n- command: printf 'Hello, world!' > hello.txt\n"
WEAK = "def test_it():\n    assert 1 + 1 == 2\n"
CASES = [
    pytest.param({"solution.sh": None, "solution.yaml": TYPED}, Decision.ACCEPTED, "", id="typed"),
    pytest.param({"tests/test_outputs.py": WEAK}, Decision.REJECTED, "untouched-scores", id="weak"),
    pytest.param(
        {"docker-compose.yaml": COMPOSE + "    privileged: true\n"}, Decision.UNSUPPORTED, "compose-keys", id="odd"
    ),
    pytest.param({}, Decision.ACCEPTED, "", id="sound", marks=pytest.mark.slow),
    pytest.param({"solution.sh": "true\n"}, Decision.REJECTED, "oracle-fails", id="failing", marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("changes", "decision", "code"), CASES)
def test_both_forms_get_one_verdict(
    tmp_path: Path, runtime: Runtime, changes: Changes, decision: Decision, code: str
) -> None:
    original = task(tmp_path / "in", {**BASE, **changes})
    (report,) = convert_all([original], tmp_path / "out")
    assert report.outcome is Outcome.CONVERTED
    for place in (original, tmp_path / "out" / original.name):
        verdict = _verdict(place, runtime, tmp_path)
        assert (verdict.decision, verdict.code) == (decision, code), verdict.stages[-1]
        assert verdict.bundle_hash == report.content_hash


def _verdict(place: Path, runtime: Runtime, cache: Path) -> Verdict:
    options = VerifyOptions(stages=("schema", "lint", "untouched", "oracle"), oracle_runs=1)
    return verify_directory(place, runtime, options, cache_root=cache)
