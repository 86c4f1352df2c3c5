"""Bundles with one planted fault each, and sound ones that look suspicious, on real engines.

A bad bundle's `[metadata]` says what was planted and which verdict it must get.
"""

import os
import tomllib
from pathlib import Path

import pytest

from envs_forge.gold.batch import verify_many
from envs_forge.gold.options import VerifyOptions
from envs_forge.run.parts import cores
from envs_forge.sandbox.verification import Isolation

ROOT = Path(__file__).parent / "bundles"
ONE_CORE = {"depends-on-cpu-count"} if cores() == 1 else set()
"""What cannot show on a machine with one processor."""
BAD = sorted(path for path in (ROOT / "bad").iterdir() if path.name not in ONE_CORE)
SOUND = sorted((ROOT / "sound").iterdir())
QUICK = {
    "answer-encoded",
    "depends-on-timezone",
    "oracle-is-wrong",
    "oracle-keeps-writing-by-a-detour",
    "reward-only-on-success",
    "rewards-disagree",
    "rewards-what-was-there",
    "image-with-user",
    "names-with-spaces",
}
OPTIONS = VerifyOptions()


def expected(path):
    if path.parent.name == "sound":
        return ("accepted", "", "")
    try:
        metadata = tomllib.loads((path / "task.toml").read_text())["metadata"]
    except tomllib.TOMLDecodeError:
        return ("rejected", "schema", "toml-syntax")
    return ("rejected", metadata["expected_stage"], metadata["expected_code"])


def differences(runtime, paths):
    """Bundles whose verdict is not the expected one, with what the verifier saw."""
    verdicts = verify_many(paths, runtime, OPTIONS, concurrency=os.cpu_count() or 2)
    assert len(verdicts) == len(paths)
    return {
        path.name: (verdict.decision.value, verdict.stage, verdict.code, expected(path), verdict.stages[-1].evidence)
        for path, verdict in zip(paths, verdicts, strict=True)
        if (verdict.decision.value, verdict.stage, verdict.code) != expected(path)
    }


@pytest.mark.engine
def test_a_few_bundles_get_their_verdict(runtime):
    chosen = [path for path in BAD + SOUND if path.name in QUICK]
    assert len(chosen) == len(QUICK)
    assert differences(runtime, chosen) == {}


@pytest.mark.engine
@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_every_bad_bundle_is_rejected_for_the_planted_reason(runtime):
    assert differences(runtime, BAD) == {}


@pytest.mark.engine
@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_every_sound_bundle_is_accepted(runtime):
    assert differences(runtime, SOUND) == {}


@pytest.mark.engine
def test_only_a_task_with_a_service_is_verified_live(runtime):
    paths = [ROOT / "sound" / "plain", ROOT / "sound" / "service-must-run"]
    verdicts = verify_many(paths, runtime, VerifyOptions(stages=("oracle",)))
    assert [verdict.isolation for verdict in verdicts] == [Isolation.FRESH, Isolation.LIVE]


def test_there_are_enough_of_them():
    assert len(BAD) >= 60
    assert len(SOUND) >= 30
