from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bundle.strategies import bundles
from envs_forge.bundle.model import Bundle, BundleFile
from envs_forge.bundle.reading import make_bundle
from envs_forge.synthesis.llm.envelope import Envelope, EnvelopeLimits, read_envelope, write_envelope
from envs_forge.synthesis.llm.faults import AnswerFault, Unreadable

FILES = {
    "instruction.md": "Do it.\n",
    "environment/Dockerfile": "FROM debian:12.11-slim\n",
    "solution/solve.sh": "#!/bin/bash\ntrue\n",
    "tests/test.sh": "#!/bin/bash\necho 1 > /logs/verifier/reward.txt\n",
}


def blocks(files: dict[str, str] | None = None) -> str:
    return "".join(f"@@ FILE {path}\n{text}@@ END\n" for path, text in (files or FILES).items())


def envelope(text: str, **limits: int) -> Envelope:
    found = read_envelope(text, limits=EnvelopeLimits(**limits))
    assert isinstance(found, Envelope), found
    return found


def fault(text: str, **limits: int) -> AnswerFault:
    found = read_envelope(text, limits=EnvelopeLimits(**limits))
    assert isinstance(found, Unreadable), found
    assert found.evidence
    return found.code


def texts(found: Envelope) -> dict[str, str]:
    return {path: file.data.decode() for path, file in found.files.items()}


@given(bundles())
@settings(max_examples=60)
def test_what_is_written_is_read_back(bundle: Bundle) -> None:
    found = envelope(write_envelope(bundle, meta={"change": "nothing"}))
    assert found.files == bundle.files
    assert found.meta == {"change": "nothing"}
    assert found.notes == ()


@given(
    st.lists(
        st.sampled_from(["@@ END", "\\@@ END", "\\\\@@ FILE x", "@@END", "@@ META", "```", "```sh", "", " a", "@@ x"])
    )
)
def test_lines_that_look_like_marks_survive(lines: list[str]) -> None:
    data = "\n".join(lines).encode()
    bundle = make_bundle(
        "x",
        {"instruction.md": BundleFile(data=data), "task.toml": BundleFile(), "tests/a.txt": BundleFile(data=data)},
    )
    assert envelope(write_envelope(bundle)).files == bundle.files


PIECES = [*'@ FILEND{}[]":,\\/.\n\r\t`ab=x', "@@ FILE a/b\n", "@@ END\n", '{"a/b": "']


@given(st.lists(st.sampled_from(PIECES)).map("".join))
@settings(max_examples=200)
def test_anything_is_files_or_a_typed_fault(text: str) -> None:
    found = read_envelope(text)
    if isinstance(found, Envelope):
        assert found.files
        assert not [path for path in found.files if path.startswith("/") or ".." in path.split("/")]
    else:
        assert found.code in AnswerFault


@given(st.binary(max_size=300), st.integers(0, 400))
def test_a_cut_answer_is_never_files_with_a_part_of_one(data: bytes, at: int) -> None:
    files = {path: BundleFile(data=text.encode(), mode=0o644) for path, text in FILES.items()}
    bundle = make_bundle("x", files | {"task.toml": BundleFile(), "tests/data": BundleFile(data=data)})
    found = read_envelope(write_envelope(bundle)[:at])
    if isinstance(found, Envelope):
        assert all(bundle.files[path] == file for path, file in found.files.items())


def test_prose_fences_and_crlf_around_the_blocks_are_tolerated_and_noted() -> None:
    found = envelope("Sure! Here it is:\n```\n" + blocks() + "```\nHope that helps.\n")
    assert (texts(found), found.notes) == (FILES, ("prose",))
    found = envelope(blocks().replace("\n", "\r\n"))
    assert (texts(found), found.notes) == (FILES, ("crlf",))
    fenced = {path: f"```bash\n{text}```\n" if path.endswith(".sh") else text for path, text in FILES.items()}
    found = envelope(blocks(fenced))
    assert (texts(found), found.notes) == (FILES, ("fenced",))


def test_crlf_of_one_file_is_its_content() -> None:
    found = envelope(blocks({"environment/data/a.csv": "a,b\r\n1,2\r\n"}))
    assert texts(found) == {"environment/data/a.csv": "a,b\r\n1,2\r\n"}


def test_reasoning_before_the_answer_does_not_count() -> None:
    found = envelope(f"<think>first\n{blocks({'tests/a': 'draft'})}</think>\n{blocks()}")
    assert texts(found) == FILES
    assert fault(f"<think>first\n{blocks()}") is AnswerFault.EMPTY


def test_reasoning_whose_opening_tag_the_template_wrote_does_not_count() -> None:
    draft = blocks({"instruction.md": "draft\n"})
    assert texts(envelope(f"So, a draft:\n{draft}</think>\n\n{blocks()}")) == FILES
    assert texts(envelope(f"I think.\r\n </think>\r\n{blocks()}")) == FILES
    assert texts(envelope(f'{{"files": {{}}}} is the form.\n</think>\n{json.dumps(FILES)}')) == FILES


def test_a_closing_tag_that_ends_no_reasoning_is_left() -> None:
    files = {**FILES, "environment/data/log": "<a>\n</think>\n"}
    assert texts(envelope(blocks(files))) == files
    assert texts(envelope(blocks() + "</think>\n")) == FILES
    assert texts(envelope(blocks() + "</think>\nThat is all.\n")) == FILES
    assert texts(envelope("It ends with </think> here.\n" + blocks())) == FILES
    thinks = {**FILES, "environment/data/log": "<think>\nx\n</think>\n"}
    assert texts(envelope(blocks(thinks))) == thinks


def test_modes_paths_and_metadata_are_read_as_models_write_them() -> None:
    text = (
        "@@ META\nChange: ties\nskills: a, b\n@@ END META\n"
        "@@ FILE `./solution/solve.sh` mode=0700 @@\nx\n@@ END @@\n"
        "@@FILE: tests/colon\nx\n@@END\n"
        '@@ FILE tests/with a blank.txt\ny\n@@ END FILE\n@@ FILE "tests/q mode=755"\nz\n@@ END\n'
    )
    found = envelope(text)
    assert found.meta == {"change": "ties", "skills": "a, b"}
    assert {path: oct(file.mode) for path, file in found.files.items()} == {
        "solution/solve.sh": "0o700",
        "tests/colon": "0o644",
        "tests/with a blank.txt": "0o644",
        "tests/q mode=755": "0o644",
    }
    assert envelope('@@ META\n{"change": "x", "n": [1]}\n@@ END\n' + blocks()).meta == {"change": "x", "n": "[1]"}


@pytest.mark.parametrize(
    ("asked", "mode"), [("000", 0o600), ("077", 0o777), ("010", 0o710), ("200", 0o600), ("444", 0o444), ("0755", 0o755)]
)
def test_the_owner_can_read_every_file(asked: str, mode: int) -> None:
    assert envelope(f"@@ FILE tests/x mode={asked}\nx\n@@ END\n").files["tests/x"].mode == mode
    as_json = json.dumps({"files": [{"path": "tests/x", "content": "x", "mode": asked}]})
    assert envelope(as_json).files["tests/x"].mode == mode


def test_metadata_of_any_kind_are_short_texts() -> None:
    text = '{"A\\ud800": "\\ud800", "b": ' + "[" * 900 + "]" * 900 + ', "": 1}'
    found = envelope(f"@@ META\n{text}\n@@ END\n{blocks()}").meta
    assert found["a\ufffd"] == "\ufffd"
    assert set(found) == {"a\ufffd", "b"}


def test_a_forgotten_end_before_the_next_file_is_noted() -> None:
    found = envelope(blocks().replace("@@ END\n", "", 1))
    assert (texts(found), found.notes) == (FILES, ("unclosed",))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "answer-empty"),
        (" \n\t\n", "answer-empty"),
        ("I cannot think of a task.", "answer-no-files"),
        ("{}", "answer-no-files"),
        ('{"answer": 1}', "answer-no-files"),
        (blocks() + "@@ FILE tests/check.py\nimport os\n", "answer-cut"),
        (blocks() + "@@ FILE instruction.md\nDo something else.\n@@ END\n", "answer-duplicate-file"),
        ("@@ FILE ../x\nx\n@@ END\n", "answer-path-escapes"),
        ("@@ FILE /etc/passwd\nx\n@@ END\n", "answer-path-escapes"),
        ("@@ FILE tests/../../x\nx\n@@ END\n", "answer-path-escapes"),
        (f"@@ FILE {'a' * 3000}\nx\n@@ END\n", "answer-path-escapes"),
        ('@@ FILE "tests/\\u0000"\nx\n@@ END\n', "answer-path-escapes"),
        ('@@ FILE "tests/\\ud800"\nx\n@@ END\n', "answer-path-escapes"),
        ('@@ LINK tests/x -> ""\n', "answer-path-escapes"),
        ('@@ LINK tests/x -> "a\\u0000"\n', "answer-path-escapes"),
        ('@@ LINK tests/x -> "\\ud800"\n', "answer-path-escapes"),
        (f"@@ LINK tests/x -> {'a' * 300}\n", "answer-path-escapes"),
        (f"@@ LINK tests/x -> {'./' * 3000}a\n", "answer-path-escapes"),
        ("@@ FILE tests/x\na\0b\n@@ END\n", "answer-encoding"),
        ("@@ FILE tests/x\ncaf\ufffd\n@@ END\n", "answer-encoding"),
        ("@@ FILE tests/x\n\ud800\n@@ END\n", "answer-encoding"),
        ("@@ FILE tests/x encoding=base64\n!!!\n@@ END\n", "answer-encoding"),
        ('{"files": {"tests/x": 1}}', "answer-bad-json"),
        ('{"files": "tests/x"}', "answer-bad-json"),
        ('{"files": [{"content": "x"}]}', "answer-bad-json"),
        ('{"tests/test.sh": "echo "x""}', "answer-bad-json"),
        ('{"tests/test.sh": ' + "[" * 100_000, "answer-bad-json"),
        ('{"files": {"instruction.md": "Do it.", "tests/test.sh": "#!/bin', "answer-cut"),
        ('{"tests/a": "x", "tests/a": "y"}', "answer-duplicate-file"),
        (
            '{"files": [{"path": "tests/a", "content": "x"}, {"path": "tests/a", "content": "y"}]}',
            "answer-duplicate-file",
        ),
        ('{"../a": "x"}', "answer-path-escapes"),
        ('{"tests/a": "\\ud800"}', "answer-encoding"),
    ],
)
def test_every_broken_answer_has_its_own_code(text: str, code: str) -> None:
    assert fault(text) == code


def test_sizes_are_bounded() -> None:
    assert fault("x" * 101, chars=100) is AnswerFault.TOO_LARGE
    assert fault(blocks({"tests/a": "x" * 200 + "\n"}), file_bytes=100) is AnswerFault.TOO_LARGE
    assert fault(blocks(), files=3) is AnswerFault.TOO_LARGE


def test_hostile_sizes_take_linear_time() -> None:
    for text in (
        "@@ FILE " + " " * 500_000 + "x\n",
        "@@ FILE a" + " mode=7" * 200_000 + "\nx\n@@ END\n",
        '{"' * 300_000,
        '{"' * 1_000_000,
        '{"a": 1} ' * 200_000,
        '{"a" 1} ' * 200_000,
        '{"a": {' * 250_000,
        ("x\n" * 10 + '{"a" 1} ') * 70_000,
        "</think>\n" * 200_000,
        "\\" * 900_000 + "@@ END",
        "{ " * 500_000,
    ):
        assert isinstance(read_envelope(text), Unreadable | Envelope)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda files: json.dumps({"meta": {"change": "x"}, "files": files}),
        lambda files: json.dumps({"metadata": {"change": "x"}, **files}),
        lambda files: "Here:\n```json\n" + json.dumps({"meta": {"change": "x"}, "files": files}, indent=1) + "\n```\n",
        lambda files: json.dumps(
            {"files": [{"path": p, "content": t} for p, t in files.items()], "meta": {"change": "x"}}
        ),
        lambda files: json.dumps({"files": {p: t.splitlines() for p, t in files.items()}, "meta": {"change": "x"}}),
    ],
)
def test_a_json_object_is_taken_as_well(wrap: object) -> None:
    found = envelope(wrap(FILES))  # type: ignore[operator]
    assert (texts(found), found.meta) == (FILES, {"change": "x"})
    assert "json" in found.notes


@pytest.mark.parametrize(
    "before",
    [
        'The tool prints {"status": 1}. ',
        'It prints {"status": 1} or {"a": {"b/c": 1}}.\n```json\n',
        'Write {"x"} or {"y": … } into it: ',
        '{"files": {}} is the form: ',
    ],
)
def test_objects_of_the_prose_before_the_answer_are_passed_over(before: str) -> None:
    found = envelope(before + json.dumps({"files": FILES, "meta": {"change": "x"}}))
    assert (texts(found), found.meta, found.notes) == (FILES, {"change": "x"}, ("json", "prose"))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{"status": 1} and {"a": 2}', "answer-no-files"),
        ('{"status": 1} {"tests/a": "x"', "answer-cut"),
        ('{"files": {"tests/a": "x"}, "keep": [tests/b]} {"tests/c": "y"}', "answer-bad-json"),
        ('{"meta": {"change": "x" y}, "files": {"tests/a": "x"}}', "answer-bad-json"),
        ('{"files": [{"path": "tests/a", "content": "x"}, {"path": "te', "answer-cut"),
        ('{"meta": {"change": "x"}, "files": {"tests/a": "x"}, "keep": ["te', "answer-cut"),
    ],
)
def test_nothing_of_a_broken_object_is_used(text: str, code: str) -> None:
    assert fault(text) == code
