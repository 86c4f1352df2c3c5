from __future__ import annotations

import os
import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest

from envs_forge.errors import DiskFullError, InvariantError, UserError
from envs_forge.ledger.records import (
    KINDS,
    AttemptRecord,
    DecisionRecord,
    EventRecord,
    ModelAnswerRecord,
    ModelCallRecord,
    ModelRequestRecord,
    PlanRecord,
    Record,
    RequestState,
    SessionRecord,
    TrialRecord,
    VerdictRecord,
)
from envs_forge.ledger.store import AlreadyRecordedError, Ledger

PLACE: dict[str, Any] = {"slot": 0, "plan": 0, "draw": 0}
SESSION = SessionRecord(number=1, version="0.1.0")
PLAN = PlanRecord(number=0, size=1, fixed=0, recipe="forge", objective=0.5, duration_s=0.1)
ATTEMPT = AttemptRecord(
    **PLACE, seed_hash="s", action="reduce/in_depth", candidate="c", content_hash="h", duration_s=0.1
)
ONE_OF_EACH: tuple[Record, ...] = (
    SESSION,
    EventRecord(session=1, kind="started"),
    TrialRecord(
        bundle_hash="b", policy="p", number=0, retry=0, bundle_id="x", status="passed", counted=True, reward=1.0,
        duration_s=0.2, payload={"steps": ["ls -l", "ünïcode"]},
    ),
    PLAN,
    ATTEMPT,
    VerdictRecord(**PLACE, retry=0, bundle_hash="h", decision="accepted", stage="", code="", duration_s=1.0),
    DecisionRecord(**PLACE, accepted=True, content_hash="h"),
    ModelCallRecord(
        role="generator", subject="c", number=0, model="m", prompt_tokens=5, completion_tokens=7, duration_s=0.3
    ),
    ModelAnswerRecord(role="generator", subject="c", number=0, model="m", kind="answer", payload={"text": "hi"}),
    ModelRequestRecord(
        role="generator", subject="c", number=0, retry=0, state=RequestState.RESERVED, session=1, model="m",
        prompt_tokens=50, completion_tokens=70,
    ),
)  # fmt: skip


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger.open(tmp_path / "ledger.sqlite")


def test_every_kind_is_read_back_as_it_was_written(ledger: Ledger) -> None:
    assert {type(record) for record in ONE_OF_EACH} == set(KINDS)
    ledger.append(*ONE_OF_EACH)
    for record in ONE_OF_EACH:
        assert ledger.read(type(record)) == [record]


@pytest.mark.parametrize("record", ONE_OF_EACH, ids=lambda record: record.TABLE)
def test_nothing_is_recorded_twice_nor_changed(ledger: Ledger, record: Record) -> None:
    ledger.append(*ONE_OF_EACH)
    with pytest.raises(AlreadyRecordedError, match=f"{record.TABLE} already holds"):
        ledger.append(record.model_copy(update={"payload": {"other": 1}}))
    for change in (f"UPDATE {record.TABLE} SET at = 'later'", f"DELETE FROM {record.TABLE}"):
        with pytest.raises(UserError, match="append-only"):
            ledger.query(change)
    assert ledger.read(type(record)) == [record]


def test_records_of_one_call_are_written_all_or_none(ledger: Ledger) -> None:
    ledger.append(SESSION)
    with pytest.raises(AlreadyRecordedError):
        ledger.append(PLAN, SESSION)
    assert ledger.read(PlanRecord) == []


def test_a_slot_and_a_content_are_accepted_once(ledger: Ledger) -> None:
    ledger.append(*ONE_OF_EACH)
    ledger.append(
        ATTEMPT.model_copy(update={"draw": 1, "candidate": "d"}),
        ATTEMPT.model_copy(update={"slot": 1, "candidate": "e"}),
    )
    with pytest.raises(AlreadyRecordedError, match="slot"):
        ledger.append(DecisionRecord(slot=0, plan=0, draw=1, accepted=True, content_hash="other"))
    with pytest.raises(AlreadyRecordedError, match="content_hash"):
        ledger.append(DecisionRecord(slot=1, plan=0, draw=0, accepted=True, content_hash="h"))


@pytest.mark.parametrize(
    "record",
    [
        TrialRecord(
            bundle_hash="b", policy="p", number=0, retry=0, bundle_id="x", status="machine-error", counted=False,
            reward=0.0, duration_s=0,
        ),
        DecisionRecord(slot=9, plan=9, draw=9, accepted=True, content_hash="h"),
        DecisionRecord(**PLACE, accepted=False, content_hash="h"),
        ModelCallRecord(
            role="r", subject="s", number=0, model="m", prompt_tokens=1, cached_tokens=2, completion_tokens=0,
            duration_s=0,
        ),
    ],
    ids=["invalid trial with a reward", "decision without attempt", "rejected without code", "more cached than sent"],
)  # fmt: skip
def test_contradictions_are_refused(ledger: Ledger, record: Record) -> None:
    ledger.append(PLAN, ATTEMPT)
    with pytest.raises(InvariantError, match="refuses"):
        ledger.append(record)


def test_many_threads_write_and_none_is_lost(ledger: Ledger) -> None:
    ledger.append(SESSION)
    clashes = []

    def write(thread: int) -> None:
        for number in range(25):
            ledger.append(EventRecord(session=1, kind="own", subject=f"{thread}-{number}"))
            try:
                ledger.append(EventRecord(session=1, kind="shared", subject=str(number)))
            except AlreadyRecordedError:
                clashes.append(number)

    threads = [threading.Thread(target=write, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ledger.read(EventRecord, kind="own")) == 150
    assert len(ledger.read(EventRecord, kind="shared")) == 25
    assert len(clashes) == 125


def test_a_reader_follows_a_writer(ledger: Ledger, tmp_path: Path) -> None:
    ledger.append(SESSION)
    with Ledger.open(tmp_path / "ledger.sqlite", read_only=True) as reader:
        assert len(reader.read(PlanRecord)) == 0
        ledger.append(PLAN)
        assert len(reader.read(PlanRecord)) == 1
        with pytest.raises(Exception, match="readonly"):
            reader.append(EventRecord(session=1, kind="x"))


def test_a_full_disk_loses_nothing(ledger: Ledger) -> None:
    ledger.append(SESSION)
    pages = ledger.query("PRAGMA page_count")[0]["page_count"]
    ledger.query(f"PRAGMA max_page_count = {pages}")
    big = EventRecord(session=1, kind="big", payload={"text": os.urandom(40_000).hex()})
    with pytest.raises(DiskFullError, match="no space left"):
        ledger.append(PLAN, big)
    assert ledger.read(PlanRecord) == []
    ledger.query("PRAGMA max_page_count = 100000")
    ledger.append(PLAN, big)
    assert ledger.read(EventRecord) == [big]


def test_secrets_do_not_get_in(ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-very-secret-value")
    ledger.append(SESSION.model_copy(update={"payload": {"said": "key sk-very-secret-value"}}))
    assert ledger.read(SessionRecord)[0].payload == {"said": "key [SOME_API_KEY redacted]"}
    ledger.close()
    assert b"very-secret" not in (tmp_path / "ledger.sqlite").read_bytes()


def test_a_file_that_is_no_ledger_or_too_new_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no ledger at"):
        Ledger.open(tmp_path / "none", read_only=True)
    (tmp_path / "text").write_text("this is no database, whatever its name says" * 100)
    with pytest.raises(UserError, match="is not a ledger"):
        Ledger.open(tmp_path / "text")
    connection = sqlite3.connect(tmp_path / "new")
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(UserError, match="schema 99"):
        Ledger.open(tmp_path / "new")


def test_reading_by_an_unknown_column_is_refused(ledger: Ledger) -> None:
    with pytest.raises(ValueError, match="no column nothing"):
        ledger.read(PlanRecord, nothing=1)
