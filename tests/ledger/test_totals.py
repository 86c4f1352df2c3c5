from __future__ import annotations

from pathlib import Path

import pytest

from envs_forge.errors import InvariantError
from envs_forge.ledger.records import (
    AttemptRecord,
    DecisionRecord,
    EventRecord,
    ModelCallRecord,
    PlanRecord,
    SessionRecord,
    TrialRecord,
    VerdictRecord,
)
from envs_forge.ledger.store import Ledger
from envs_forge.ledger.totals import TokenTotals, totals


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    ledger = Ledger.open(tmp_path / "ledger.sqlite")
    ledger.append(PlanRecord(number=0, size=3, fixed=0, recipe="forge", objective=1, duration_s=0.5))
    for slot, code in ((0, ""), (1, "oracle-failed"), (2, "oracle-failed")):
        ledger.append(
            AttemptRecord(
                slot=slot, plan=0, draw=0, seed_hash="s", action="a", candidate=f"c{slot}", content_hash=f"h{slot}",
                duration_s=1.5,
            ),
            VerdictRecord(
                slot=slot, plan=0, draw=0, retry=0, bundle_hash=f"h{slot}",
                decision="rejected" if code else "accepted", stage="oracle" if code else "", code=code, duration_s=2,
            ),
            DecisionRecord(
                slot=slot, plan=0, draw=0, accepted=not code, content_hash=f"h{slot}",
                stage="oracle" if code else "", code=code,
            ),
        )  # fmt: skip
    ledger.append(
        AttemptRecord(
            slot=1, plan=0, draw=1, seed_hash="s", action="a", candidate=None, content_hash=None, code="no-variant",
            duration_s=0.5,
        )
    )  # fmt: skip
    return ledger


def trial(number: int, status: str, reward: float | None) -> TrialRecord:
    return TrialRecord(
        bundle_hash="b", policy="p", number=number, retry=0, bundle_id="x", status=status, counted=reward is not None,
        reward=reward, duration_s=1,
    )  # fmt: skip


def call(subject: str, role: str = "generator", cost: float | None = 0.25) -> ModelCallRecord:
    return ModelCallRecord(
        role=role, subject=subject, number=0, model="m", prompt_tokens=100, cached_tokens=60, completion_tokens=20,
        reasoning_tokens=5, cost_usd=cost, duration_s=1,
    )  # fmt: skip


def test_parts_are_counted(ledger: Ledger) -> None:
    ledger.append(trial(0, "passed", 1.0), trial(1, "failed", 0.0), trial(2, "machine-error", None))
    ledger.append(call("a"), call("b"), call("c", role="policy", cost=None))
    found = totals(ledger)
    assert (found.trials, found.counted, found.invalid) == (3, 2, 1)
    assert (found.attempts, found.accepted, found.rejected, found.undecided) == (4, 1, 2, 1)
    assert found.rejections == {"oracle/oracle-failed": 2}
    assert found.verdicts == {"accepted": 1, "rejected": 2}
    assert found.tokens["generator"] == TokenTotals(
        calls=2, prompt_tokens=200, cached_tokens=120, completion_tokens=40, reasoning_tokens=10, cost_usd=0.5
    )
    assert found.tokens_total == 360
    assert found.seconds == {"trials": 3.0, "planning": 0.5, "synthesis": 5.0, "verification": 6.0}


def test_wall_time_is_summed_by_kind_of_event(ledger: Ledger) -> None:
    for session, seconds in ((1, 2.0), (2, 0.5)):
        ledger.append(
            SessionRecord(number=session, version="1"),
            EventRecord(session=session, kind="measured", duration_s=seconds),
            EventRecord(session=session, kind="short"),
        )
    assert totals(ledger).wall_seconds == {"measured": 2.5}


def test_an_unknown_price_makes_the_sum_unknown_not_zero(ledger: Ledger) -> None:
    ledger.append(call("a"), call("b", cost=None))
    assert totals(ledger).tokens["generator"].cost_usd is None


def test_an_empty_ledger_has_empty_totals(tmp_path: Path) -> None:
    found = totals(Ledger.open(tmp_path / "empty.sqlite"))
    assert (found.trials, found.attempts, found.tokens, found.tokens_total) == (0, 0, {}, 0)


def test_a_total_that_is_not_the_sum_of_its_parts_is_refused(ledger: Ledger) -> None:
    totals(ledger)
    ledger.query("DROP VIEW rejections")
    ledger.query("CREATE VIEW rejections AS SELECT 'oracle' AS stage, 'oracle-failed' AS code, 1 AS count")
    with pytest.raises(InvariantError, match="total of rejected is 2, its parts are oracle/oracle-failed 1 = 1"):
        totals(ledger)
