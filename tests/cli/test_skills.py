from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Forge

ROOT = Path(__file__).parents[2]
TASKS = ("-p", str(ROOT / "examples" / "tasks"))


def test_it_counts_skills_by_type(forge: Forge) -> None:
    said = forge("skills", *TASKS)
    assert said.code == 0
    lines = said.out.splitlines()
    assert lines[0].split() == ["skill", "seeds", "reachable"]
    rows = {line.split()[0]: line.split()[1:] for line in lines[1:] if "/" in line.split(" ")[0]}
    assert rows["domain/sqlite"] == ["1", "1"]
    assert next(iter(rows)).startswith("domain/")
    assert any(line.startswith("covered: domain ") and "tool " in line for line in lines)
    assert "5 tasks, skills from: metadata 0, texts 5, none 0" in lines
    assert any(line.startswith("the procedural generator can evolve 0 of 5 tasks") for line in lines)


def test_quotas_that_could_not_be_met(forge: Forge) -> None:
    quotas = ("--quota", "tool/git=2", "--quota", "tool/chmod=0.4", "-N", "5")
    said = forge("skills", *TASKS, *quotas)
    assert said.code == 1
    assert said.out.splitlines()[-2:] == [
        "quotas at N = 5: 1 within reach, 1 not",
        "  tool/git: 2 asked, 1 can be reached",
    ]
    found = forge("skills", *TASKS, *quotas, "--json").json
    assert found["unmet"] == ["tool/git"]
    assert [(row["skill"], row["asked"]) for row in found["quotas"]] == [("tool/chmod", 2), ("tool/git", 2)]


def test_tasks_without_a_skill_are_named(forge: Forge, here: Path) -> None:
    from run.test_seeds import task

    place = task(here / "pool", "plain", text="Think of something.\n")
    (place / "solution" / "solve.sh").write_text("#!/bin/sh\ntrue\n")
    (place / "tests" / "test.sh").write_text("#!/bin/sh\necho 0 > /logs/verifier/reward.txt\n")
    said = forge("skills", "-p", "pool", "--json")
    assert (said.json["untagged"], said.json["sources"]["none"]) == (["plain"], 1)
    assert "without any skill: plain" in forge("skills", "-p", "pool").out


def test_the_bundled_pool_is_tagged_by_its_metadata(forge: Forge) -> None:
    found = forge("skills", "-p", str(ROOT / "seeds"), "-l", "3", "--json").json
    assert found["underivable"] == []
    assert (found["sources"]["metadata"], found["unknown"], found["untagged"]) == (3, [], [])
    assert any(row["reachable"] > row["seeds"] for row in found["skills"])


@pytest.mark.parametrize("args", [("-p", "nowhere"), (*TASKS, "--quota", "tool/gti=1"), (*TASKS, "--quota", "x")])
def test_mistakes_are_one_line(forge: Forge, args: tuple[str, ...]) -> None:
    said = forge("skills", *args)
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
