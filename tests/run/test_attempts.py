from __future__ import annotations

import errno
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from bundle.samples import sample, with_files
from envs_forge.bundle.hashing import content_hash
from envs_forge.bundle.model import Bundle, BundleFile
from envs_forge.errors import DiskFullError, InfrastructureError
from envs_forge.plan.model import ACTIONS
from envs_forge.run import attempts
from envs_forge.run.attempts import kept, stored_candidate
from envs_forge.run.place import Draw, Made
from envs_forge.synthesis.generator import Assignment, Candidate, Rejection

NAME = "000-p0-d0"


def keep(answer: Candidate | Rejection, root: Path) -> Made:
    rates = {"pass_rate": 0.5, "k": 2, "n": 4, "predicted": 0.5, "frontier_score": 1.0}
    assignment = Assignment(slot=0, draw=0, seed_id="s", seed_hash="h", action=ACTIONS[0], recipe="forge", **rates)
    draw = cast(Draw, SimpleNamespace(assignment=assignment, name=NAME))
    made = kept(draw, answer, root / NAME, generator="fake", seconds=1.0)
    assert Made.model_validate_json((root / NAME / "made.json").read_bytes()) == made
    assert [path.name for path in root.iterdir()] == [NAME]
    return made


def odd(path: str, file: BundleFile) -> Bundle:
    """A bundle as no reader would let it through."""
    return sample().model_copy(update={"files": with_files({path: file})})


def test_a_candidate_is_kept_and_read_again(tmp_path: Path) -> None:
    made = keep(Candidate(bundle=sample(), detail={"a": 1}, prompt_tokens=3), tmp_path)
    assert (made.candidate, made.code, made.prompt_tokens, made.detail) == (NAME, "", 3, {"a": 1})
    assert content_hash(stored_candidate(tmp_path, NAME)) == made.content_hash


@pytest.mark.parametrize(
    "answer",
    [
        Candidate(bundle=odd("tests/l", BundleFile(target="\0"))),
        Candidate(bundle=odd("tests/l", BundleFile(target="\ud800"))),
        Candidate(bundle=odd("tests/l", BundleFile(target="./" * 4000 + "test.sh"))),
        Candidate(bundle=odd("tests/\ud800", BundleFile())),
        Candidate(bundle=odd("tests/test.sh/a", BundleFile())),
        Candidate(bundle=odd("tests/l", BundleFile(target="../../x"))),
        Candidate(bundle=odd("task.toml", BundleFile(data=b"["))),
        Candidate(bundle=sample(), detail={"\ud800": "\ud800"}),
        Candidate(bundle=sample(), detail={"a": object()}),
    ],
    ids=range(9),
)
def test_what_cannot_be_kept_is_a_rejection_with_its_price(answer: Candidate, tmp_path: Path) -> None:
    made = keep(answer.model_copy(update={"prompt_tokens": 3, "completion_tokens": 4}), tmp_path)
    assert (made.candidate, made.content_hash, made.code) == (None, None, "answer-unusable")
    assert (made.prompt_tokens, made.completion_tokens) == (3, 4)
    assert "Error: " in made.evidence
    assert not (tmp_path / NAME / "bundle").exists()


def test_a_candidate_that_comes_back_as_another_is_a_rejection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "read_bundle", lambda _: sample({"tests/a": "x"}))
    assert keep(Candidate(bundle=sample()), tmp_path).code == "answer-unusable"


def test_the_evidence_of_any_generator_can_be_stored(tmp_path: Path) -> None:
    made = keep(Rejection(code="no", evidence="it said \ud800"), tmp_path)
    assert (made.code, made.evidence) == ("no", "it said \ufffd")


def test_a_full_disk_is_no_fault_of_the_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, kind in ((errno.ENOSPC, DiskFullError), (errno.EIO, InfrastructureError)):

        def full(*_: object, number: int = number) -> None:
            raise OSError(number, "no")

        monkeypatch.setattr("envs_forge.bundle.writing._write_files", full)
        with pytest.raises(kind):
            keep(Candidate(bundle=sample()), tmp_path)
        assert not list(tmp_path.iterdir())
