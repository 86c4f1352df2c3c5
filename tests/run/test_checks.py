from __future__ import annotations

import pytest

from envs_forge.config import make_config
from envs_forge.plan.model import ACTIONS
from envs_forge.rollout.trial import PassRate
from envs_forge.run.checks import band_check, make_auditor, overlap_check
from envs_forge.synthesis.generator import Assignment
from pipeline.fakes import bundle

FIGURES = {"pass_rate": 0.5, "k": 1.0, "n": 2, "predicted": 0.5, "frontier_score": 1.0}
ASSIGNMENT = Assignment(slot=0, draw=0, seed_id="s", seed_hash="h", action=ACTIONS[0], recipe="forge", **FIGURES)
SEED, MARKED = bundle("seed", "Do it.\n"), bundle("x", "Do it, canary-17.\n")


def codes(**config: object) -> list[str]:
    make = make_auditor(make_config(config, where="test"))
    assert make is not None
    return [finding.code for finding in make([SEED]).check(SEED, MARKED, ASSIGNMENT)]


def test_candidates_of_the_procedural_generator_are_held_against_evaluation_sets_alone() -> None:
    assert make_auditor(make_config({}, where="test")) is None
    assert codes(canaries=["canary-17"]) == ["canary"]
    assert codes(canaries=["other"]) == []


def test_candidates_of_a_model_are_held_against_their_action_too() -> None:
    assert "part-unchanged" in codes(generator="llm")
    assert codes(generator="llm", canaries=["canary-17"])[0] == "canary"
    assert make_auditor(make_config({"generator": "llm", "audit": False}, where="test")) is None
    assert "part-unchanged" in codes(audit=True)


def test_a_seed_that_holds_a_canary_is_no_parent() -> None:
    assert overlap_check(make_config({}, where="test")) is None
    check = overlap_check(make_config({"canaries": ["canary-17"]}, where="test"))
    assert check is not None
    assert "canary-17" in check(MARKED)
    assert check(SEED) == ""


@pytest.mark.parametrize(("k", "code"), [(0, "below-band"), (1, ""), (3, ""), (4, "above-band")])
def test_a_band_takes_its_ends_in(k: int, code: str) -> None:
    rate = PassRate(bundle_id="x", bundle_hash="h", k=k, n=4, invalid=0, rate=k / 4, low=0.0, high=1.0)
    found = band_check((0.25, 0.75))(rate, 0.5)
    assert (found.code if found else "") == code
    assert found is None or f"{k} of 4 tries" in found.evidence
    assert band_check(None)(rate, 0.5) is None
