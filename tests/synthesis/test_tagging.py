from __future__ import annotations

from pathlib import Path
from statistics import mean

import pytest

from envs_forge.bundle.model import Bundle, BundleFile, TaskConfig
from envs_forge.bundle.reading import read_bundle
from envs_forge.plan.tagging import tag
from envs_forge.synthesis.tagging import SkillSource, skills_of_bundle, texts_of

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("name", "expected", "unexpected"),
    [
        ("c-makefile", {"domain/builds", "artifact/makefile", "operation/fix-build", "tool/make", "tool/gcc"},
         {"tool/git"}),
        ("fix-cron-backup", {"domain/shell", "artifact/crontab", "operation/fix-cron", "operation/create-archive",
                             "tool/tar", "constraint/hidden-files", "constraint/spaces-in-names"}, {"domain/git"}),
        ("merge-conflict", {"domain/git", "operation/git-conflict", "tool/git", "constraint/merge-commits"},
         {"domain/sqlite", "artifact/csv"}),
        ("nginx-log-report", {"domain/logs", "artifact/access-log", "artifact/json", "operation/top-k", "tool/gzip",
                              "constraint/malformed-lines", "constraint/time-zones"}, {"tool/awk", "domain/git"}),
        ("sqlite-migration", {"domain/sqlite", "artifact/sqlite-database", "operation/sqlite-migrate",
                              "constraint/transactions", "constraint/foreign-keys"}, {"artifact/json", "domain/logs"}),
    ],
)  # fmt: skip
def test_tasks_written_by_hand(name: str, expected: set[str], unexpected: set[str]) -> None:
    found = skills_of_bundle(read_bundle(ROOT / "examples" / "tasks" / name))
    assert found.source is SkillSource.TEXTS
    assert expected <= set(found.skills)
    assert not unexpected & set(found.skills)


def test_on_the_bundled_pool_it_finds_half_of_what_is_known_and_little_else() -> None:
    precision, recall = [], []
    for path in sorted((ROOT / "seeds").glob("*/task.toml")):
        bundle = read_bundle(path.parent)
        known, found = (
            {skill for skill in skills if not skill.startswith(("constraint/", "tool/"))}
            for skills in (skills_of_bundle(bundle).skills, tag(texts_of(bundle)))
        )
        precision.append(len(found & known) / max(1, len(found)))
        recall.append(len(found & known) / len(known))
    assert mean(precision) > 0.7
    assert mean(recall) > 0.4


def bundle(metadata: dict[str, object], **files: bytes) -> Bundle:
    made = {name.replace("__", "/"): BundleFile(data=data) for name, data in files.items()}
    return Bundle(id="t", files=made, config=TaskConfig(metadata=metadata))


def test_metadata_wins() -> None:
    own = {"skills": ["tool/awk", "mine/own"]}
    assert skills_of_bundle(bundle(own, solution__solve=b"jq .")).skills == ("mine/own", "tool/awk")
    assert skills_of_bundle(bundle({"envs_forge": {"skills": ["tool/tr"]}, **own})).skills == ("tool/tr",)
    read = skills_of_bundle(bundle({"skills": []}, solution__solve=b"jq ."))
    assert (read.skills, read.source) == (("tool/jq",), SkillSource.TEXTS)


def test_binary_files_and_strange_encodings_are_no_obstacle() -> None:
    found = skills_of_bundle(bundle({}, solution__blob=b"jq .\0", solution__solve=b"\xef\xbb\xbfsort f\r\n\xff"))
    assert found.skills == ("tool/sort",)
    assert skills_of_bundle(bundle({})).source is SkillSource.NONE
