from __future__ import annotations

import errno
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from envs_forge.bundle.finding import BundleError, Finding
from envs_forge.bundle.hashing import content_hash
from envs_forge.bundle.model import Bundle
from envs_forge.errors import DiskFullError, InfrastructureError, InvariantError, UserError
from envs_forge.models.answer import Answer, AnswerKind
from envs_forge.plan.model import ACTIONS
from envs_forge.run.attempts import kept, stored_candidate
from envs_forge.run.place import Draw, Made
from envs_forge.synthesis.generator import Assignment, Candidate, Feedback, Rejection
from envs_forge.synthesis.llm import outcome as module
from envs_forge.synthesis.llm.contract import Contract
from envs_forge.synthesis.llm.faults import unforeseen
from envs_forge.synthesis.llm.outcome import outcome
from envs_forge.synthesis.llm.repair import repair_messages

from .test_parsing import FILES, answer, seed

NAME = "000-p0-d0"
CONTRACT = Contract((), 0, 0, 0, ())


def assignment() -> Assignment:
    given: dict[str, Any] = {"seed_id": "seed", "seed_hash": "h", "action": ACTIONS[0], "recipe": "forge"}
    rates = {"slot": 0, "draw": 0, "pass_rate": 0.5, "k": 2, "n": 4, "predicted": 0.5, "frontier_score": 1.0}
    return Assignment(**{**given, **rates})


def read(text: str, parent: Bundle | None = None, *, model: str = "m") -> Candidate | Rejection:
    return outcome(Answer(kind=AnswerKind.ANSWER, text=text, model=model), parent or seed(), CONTRACT)


def keep(found: Candidate | Rejection, root: Path) -> Made:
    """Put it on disk and read it back as a resume does."""
    draw = cast(Draw, SimpleNamespace(assignment=assignment(), name=NAME))
    made = kept(draw, found, root / NAME, generator="llm", seconds=1.0)
    assert Made.model_validate_json((root / NAME / "made.json").read_bytes()) == made
    assert json.dumps(made.model_dump(mode="json"), ensure_ascii=False).encode()
    if made.candidate is not None:
        assert content_hash(stored_candidate(root, NAME)) == made.content_hash
    return made


TEXTS = {path: text for path, text in FILES.items() if "\0" not in text}
ENVELOPE = "@@ META\nchange: x\nskills: artifact/log\n@@ END\n" + answer()
OBJECT = json.dumps({"meta": {"change": "x"}, "keep": ["tests/check.py"], "files": TEXTS})
LIST = json.dumps({"files": [{"path": path, "content": text, "mode": "644"} for path, text in TEXTS.items()]})
PIECES = [
    "\0", "\ud800", '"\\ud800"', '"\\u0000"', "\\ud800", "\r", "\x0b", "\u2028", "\ufffd", "٧", "\\", '"', "{", "}",
    "[" * 900, "]" * 900, "[" * 5000, '{"a":' * 2000, "9" * 5000, "NaN", "../", "/", "./", " ", "\n", ":", ",", "null",
    " mode=000", " mode=77", " mode=" + "7" * 5000, " encoding=base64", " end=open", " x=" + "y" * 5000,
    "\n@@ END\n", "\n@@ META\n", "\n@@ FILE tests/a\n",
    '\n@@ FILE "tests/\\ud800"\n', f"\n@@ FILE tests/{'a/' * 300}b\n",
    '\n@@ LINK tests/l -> "\\ud800"\n', '\n@@ LINK tests/l -> "a\\u0000"\n', '\n@@ LINK tests/l -> ""\n',
    "\n@@ LINK tests/l -> l\n", f"\n@@ LINK tests/l -> {'./' * 3000}a\n", "\n@@ LINK solution -> tests\n",
    "\n@@ KEEP tests/\n", '\n@@ KEEP "\\ud800"\n', "\n@@ FILE task.toml\n",
    "\n@@ FILE environment/docker-compose.yaml\n",
    "services:\n  main:\n    init: !!bool x\n", '!!int ""', "!!timestamp x", "&a [*a]", "[agent]\ntimeout_sec = 1e9\n",
    "<think>", "</think>", "```json\n", "COPY [", "COPY <<E /x\n", '"mode": [[1]], ',
    '"files": 1, ', '"meta": {"\\ud800": 1}, ',
]  # fmt: skip


@st.composite
def mutated(draw: st.DrawFn) -> str:
    text = draw(st.sampled_from([ENVELOPE, OBJECT, LIST]))
    for _ in range(draw(st.integers(1, 4))):
        begin = draw(st.integers(0, len(text)))
        end = draw(st.integers(begin, min(len(text), begin + 40))) if draw(st.booleans()) else begin
        text = text[:begin] + draw(st.one_of(st.sampled_from(PIECES), st.text(max_size=5))) + text[end:]
    return text


@given(mutated())
@example(ENVELOPE)
@example(OBJECT)
@example(LIST)
@settings(max_examples=150)
def test_any_answer_is_a_candidate_or_a_rejection_that_can_be_kept(text: str) -> None:
    found = read(text)
    assert json.dumps(found.model_dump(mode="json", exclude={"bundle"}), ensure_ascii=False).encode()
    with TemporaryDirectory() as root:
        made = keep(found, Path(root))
    assert made.code == (found.code if isinstance(found, Rejection) else "")


@pytest.mark.parametrize("piece", PIECES, ids=range(len(PIECES)))
@pytest.mark.parametrize("before", ["", "@@ END\n", "solve.sh"])
def test_every_odd_piece_at_a_mark_is_survived(piece: str, before: str, tmp_path: Path) -> None:
    made = keep(read(ENVELOPE.replace(before, before + piece) if before else ENVELOPE + piece), tmp_path)
    assert made.code != "answer-unusable"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"\\ud800": 1}', "\ufffd"),
        ('{"files": {"tests/\\ud800": "1", "tests/\\ud800": "2"}}', "tests/\ufffd"),
        ("I cannot \ud800 do it", "I cannot \ufffd do it"),
    ],
)
def test_evidence_can_be_stored_whatever_it_quotes(text: str, told: str, tmp_path: Path) -> None:
    found = read(text)
    assert isinstance(found, Rejection)
    assert told in found.evidence
    assert keep(found, tmp_path).evidence == found.evidence


def test_metadata_can_be_stored_whatever_it_says(tmp_path: Path) -> None:
    found = read(
        '@@ META\n{"\\ud800": "\\ud800", "a": ' + "[" * 900 + "]" * 900 + "}\n@@ END\n" + answer(), model="\ud800"
    )
    assert isinstance(found, Candidate)
    assert found.detail["meta"]["\ufffd"] == "\ufffd"
    assert found.detail["model"] == "\ufffd"
    assert keep(found, tmp_path).candidate == NAME


@pytest.mark.parametrize(
    "error",
    [KeyError("x"), RecursionError(), ValueError("\ud800"), InvariantError("x"), OSError(errno.ENAMETOOLONG, "long")],
    ids=repr,
)
def test_an_error_that_nothing_foresees_rejects_the_answer(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise error

    monkeypatch.setattr(module, "parse_answer", fails)
    found = read(ENVELOPE)
    assert isinstance(found, Rejection)
    assert found.code == "answer-unusable"
    assert found.evidence.startswith(type(error).__name__)
    assert found.evidence.encode()


MACHINE = [
    MemoryError(),
    ImportError("x"),
    InfrastructureError("x"),
    DiskFullError("x"),
    OSError(errno.ENOSPC, "full"),
    OSError(errno.EACCES, "denied"),
    BundleError("x", [Finding(code="unreadable", message="Too many open files")]),
]


@pytest.mark.parametrize("error", MACHINE, ids=repr)
def test_a_fault_of_the_machine_stays_one(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise error

    monkeypatch.setattr(module, "parse_answer", fails)
    with pytest.raises(type(error)):
        read(ENVELOPE)


def test_an_error_is_judged_by_what_the_filesystem_said() -> None:
    for number, machine in ((errno.EEXIST, False), (errno.ENAMETOOLONG, False), (errno.EROFS, True), (errno.EIO, True)):
        for kind in (UserError, InfrastructureError):
            error = kind("cannot write")
            error.__cause__ = OSError(number, "why")
            assert (unforeseen(error) is None) is machine


def test_what_goes_back_to_the_model_can_be_sent() -> None:
    feedback = Feedback(stage="synthesis", code="answer-encoding", evidence="\ud800", previous=NAME)
    messages = repair_messages(({"role": "user", "content": "Write."},), feedback, "a\ud800")
    assert json.dumps(messages, ensure_ascii=False).encode()
    assert messages[1]["content"] == "a\ufffd"


def realised(skills: str) -> tuple[str, ...]:
    found = read(f"@@ META\nchange: x\nskills: {skills}\n@@ END\n" + answer())
    assert isinstance(found, Candidate)
    assert found.detail["meta"]["skills"] == skills
    return found.realised


def test_a_candidate_exercises_what_its_answer_declares_and_what_its_texts_show() -> None:
    seen = realised("sorting of lines")
    assert "tool/sort" in seen
    assert "operation/top-k" not in seen
    assert set(realised("operation/top-k, tool/none")) == {*seen, "operation/top-k"}
