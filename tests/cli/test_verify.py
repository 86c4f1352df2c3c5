"""`verify` on real containers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from run.test_seeds import task

from .conftest import Forge

pytestmark = pytest.mark.engine


@pytest.fixture(autouse=True)
def own_cache(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(here / "cache"))


def pool(here: Path) -> None:
    for name, solution in (("good", "yes"), ("unsolved", "no")):
        place = task(here / "pool", name, toml='schema_version = "1.4"\n[environment]\nnetwork_mode = "no-network"\n')
        (place / "solution" / "solve.sh").write_text(f"#!/bin/bash\necho {solution} > /app/done.txt\n")
    task(here / "pool", "toothless", tests=False)


def test_each_task_gets_its_verdict_and_one_that_is_not_accepted_makes_it_1(forge: Forge, here: Path) -> None:
    pool(here)
    said = forge("verify", "-p", "pool", "--json", "-q")
    assert said.code == 1
    found = said.json
    assert (found["verified"], found["accepted"], found["rejected"], found["error"]) == (3, 1, 2, 0)
    by_name = {verdict["bundle_id"]: verdict for verdict in found["verdicts"]}
    assert by_name["good"]["decision"] == "accepted"
    assert by_name["unsolved"]["stage"] == "oracle"
    assert (by_name["toothless"]["stage"], by_name["toothless"]["code"]) == ("schema", "tests-missing")


def test_the_table_says_why(forge: Forge, here: Path) -> None:
    pool(here)
    said = forge("verify", "-p", "pool", "-x", "unsolved")
    rows = [line.split() for line in said.out.splitlines()]
    assert rows[0] == ["task", "decision", "reason"]
    assert rows[1] == ["good", "accepted"]
    assert rows[2][:3] == ["toothless", "rejected", "schema/tests-missing"]
    assert said.out.splitlines()[-1] == "2 verified: 1 accepted, 1 rejected"
    assert "verified 2/2" in said.err


def test_an_unchanged_task_keeps_its_verdict(forge: Forge, here: Path) -> None:
    pool(here)
    command = ("verify", "-p", "pool", "-i", "unsolved", "--fast", "--json")
    first, again, anew = forge(*command).json, forge(*command), forge(*command, "--no-cache").json
    assert [found["verdicts"][0]["cached"] for found in (first, again.json, anew)] == [False, True, False]
    assert "unchanged 1" in again.err
    assert again.json["verdicts"][0] == {**first["verdicts"][0], "cached": True}


def test_each_verdict_goes_to_a_file_as_it_falls(forge: Forge, here: Path) -> None:
    pool(here)
    said = forge("verify", "-p", "pool", "-x", "good", "--fast", "--json", "-o", "out")
    files = sorted((here / "out").iterdir())
    assert [json.loads(file.read_bytes()) for file in files] == said.json["verdicts"]
    assert [file.name for file in files] == ["toothless.json", "unsolved.json"]
    (here / "file").touch()
    assert forge("verify", "-p", "pool", "-o", "file").code == 2
