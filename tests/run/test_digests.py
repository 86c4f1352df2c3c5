"""What a generator is told of a seed's failing rollouts, out of the journal."""

from __future__ import annotations

from pathlib import Path

from envs_forge.ledger.store import Ledger
from envs_forge.rollout.trial import Trial, TrialStatus
from envs_forge.run.digests import failures
from envs_forge.run.journal import Journal
from envs_forge.sandbox.verification import Verification
from pipeline.fakes import FakeMeasure, World, seeds


def trial(like: Trial, index: int, output: str) -> Trial:
    passed = "FAIL" not in output
    status = TrialStatus.PASSED if passed else TrialStatus.FAILED
    told = Verification(reward=float(passed), fault=None, output_tail=output)
    found = {"index": index, "reward": float(passed), "status": status, "verification": told}
    return like.model_copy(update=found)


def test_failed_tests_are_told_as_shares_of_the_rollouts(tmp_path: Path) -> None:
    first, second = seeds(tmp_path / "pool", 2)
    like = FakeMeasure(World(), 1).trial(first.bundle, 0)
    with Ledger.open(tmp_path / "ledger.sqlite") as ledger:
        journal = Journal(ledger)
        for index, output in enumerate(("FAIL 1. a: no\nFAIL 2. b: no", "FAIL 2. b: no\nPASS 1. a", "PASS 1. a", "")):
            journal.add_trial(trial(like, index, output))
        found = failures([first, second], journal)
    assert found.keys() == {first.hash}
    assert found[first.hash].tests == {"2. b": 0.5, "1. a": 0.25}
    assert "2. b" in found[first.hash].text
