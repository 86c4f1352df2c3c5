from __future__ import annotations

import sqlite3
from pathlib import Path

from envs_forge.ledger.migrate import migrations
from envs_forge.ledger.records import AttemptRecord, DecisionRecord, TrialRecord, VerdictRecord
from envs_forge.ledger.store import Ledger
from envs_forge.ledger.totals import totals

ROWS = """
INSERT INTO sessions VALUES (1, 't', '0.1.0', '{}');
INSERT INTO trials VALUES ('b', 'p', 0, 0, 'seed', 'passed', 1, 1.0, 't', 0.1, '{}');
INSERT INTO plans VALUES (0, 2, 0, 'forge', 1.0, 't', 0.0, '{}');
INSERT INTO attempts VALUES (0, 0, 0, 'h', 'reduce/in_depth', NULL, NULL, 'cut', 't', 0.1, '{"a": 1}');
INSERT INTO attempts VALUES (0, 0, 1, 'h', 'reduce/in_depth', 'c', 'x', '', 't', 0.1, '{}');
INSERT INTO verdicts VALUES (0, 0, 1, 0, 'x', 'accepted', '', '', 't', 1.0, '{}');
INSERT INTO decisions VALUES (0, 0, 0, 0, NULL, 'synthesis', 'cut', 't', '{}');
INSERT INTO decisions VALUES (0, 0, 1, 1, 'x', '', '', 't', '{}');
"""


def first_version(tmp_path: Path) -> Path:
    path = tmp_path / "ledger.sqlite"
    with sqlite3.connect(path) as old:
        old.executescript(migrations()[0][1] + ROWS + "PRAGMA user_version = 1;")
    old.close()
    return path


def test_a_reader_brings_it_up_to_date_first(tmp_path: Path) -> None:
    with Ledger.open(first_version(tmp_path), read_only=True) as ledger:
        assert totals(ledger).attempts == 2


def test_a_ledger_of_the_first_version_is_taken_over_whole(tmp_path: Path) -> None:
    path = first_version(tmp_path)
    with Ledger.open(path) as ledger:
        assert [(a.draw, a.repair, a.code) for a in ledger.read(AttemptRecord)] == [(0, 0, "cut"), (1, 0, "")]
        assert ledger.read(AttemptRecord)[0].payload == {"a": 1}
        assert [v.repair for v in ledger.read(VerdictRecord)] == [0]
        assert [d.accepted for d in ledger.read(DecisionRecord)] == [False, True]
        assert [t.purpose for t in ledger.read(TrialRecord)] == ["seed"]
        found = totals(ledger)
        assert (found.attempts, found.accepted, found.rejections) == (2, 1, {"synthesis/cut": 1})
        assert ledger.query("PRAGMA foreign_key_check") == []
        ledger.append(
            AttemptRecord(slot=0, plan=0, draw=0, repair=1, seed_hash="h", action="a", candidate=None,
                          content_hash=None, code="cut", duration_s=0.0)
        )  # fmt: skip
