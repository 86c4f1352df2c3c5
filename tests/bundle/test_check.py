"""The schema check finds everything at once, with file and line, and crashes on nothing."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from envs_forge.bundle import BundleError, BundleFile, Finding, Severity, check_bundle, read_bundle
from envs_forge.bundle.tree import SizeLimits
from envs_forge.errors import UserError

from .samples import TEXTS, TOML, on_disk, sample

ERROR, WARNING = Severity.ERROR, Severity.WARNING


def found(findings: list[Finding]) -> set[tuple[str, Severity, str, int | None]]:
    return {(f.code, f.severity, f.file, f.line) for f in findings}


def test_a_sound_bundle_has_no_findings(tmp_path: Path) -> None:
    assert check_bundle(on_disk(tmp_path)) == []
    assert check_bundle(sample()) == []


def test_everything_is_found_at_once(tmp_path: Path) -> None:
    toml = '[environment]\nmemory = "2 pounds"\ncpus = -1\n\n[agent]\n# why\ntimeout_sec = "soon"\n'
    changes = {"task.toml": toml, "tests/test.sh": None, "solution/solve.sh": b"#!/bin/sh\r\ntrue\r\n"}
    path = on_disk(tmp_path, changes)
    (path / "environment/Dockerfile").unlink()
    (path / "out").symlink_to("../../x")
    findings = check_bundle(path)
    assert found(findings) == {
        ("toml-schema", ERROR, "task.toml", 2),
        ("toml-schema", ERROR, "task.toml", 3),
        ("toml-schema", ERROR, "task.toml", 7),
        ("image-missing", ERROR, "environment/Dockerfile", None),
        ("empty-directory", WARNING, "environment", None),
        ("tests-missing", ERROR, "tests/test.sh", None),
        ("crlf", ERROR, "solution/solve.sh", 1),
        ("link-escapes", ERROR, "out", None),
    }
    with pytest.raises(BundleError, match=r"task\.toml:7|out") as caught:
        read_bundle(path)
    assert {f.code for f in caught.value.findings} == {"toml-schema", "link-escapes"}


@pytest.mark.parametrize(
    ("path", "data", "code", "severity", "line"),
    [
        ("task.toml", TOML.encode("utf-16"), "encoding-utf16", ERROR, 1),
        ("task.toml", TOML.encode("utf-16-le"), "encoding-utf16", ERROR, 1),
        ("task.toml", b"\xef\xbb\xbf" + TOML.encode(), "byte-order-mark", ERROR, 1),
        ("task.toml", TOML.encode() + b"# caf\xe9\n", "encoding", ERROR, 12),
        ("task.toml", TOML.encode() + b"x = 1\0\n", "nul-byte", ERROR, 12),
        ("task.toml", b"a = 1\nb = = 2\n", "toml-syntax", ERROR, 2),
        ("task.toml", b"a = 1\na = 2\n", "toml-syntax", ERROR, 2),
        ("task.toml", b"a = [1,\n", "toml-syntax", ERROR, 2),
        ("task.toml", TOML.replace("\n", "\r\n").encode(), "crlf", WARNING, 1),
        ("task.toml", b"", "empty-file", ERROR, None),
        ("instruction.md", "Do it.".encode("utf-16"), "encoding-utf16", ERROR, 1),
        ("instruction.md", b"\xef\xbb\xbfDo it.", "byte-order-mark", WARNING, 1),
        ("instruction.md", b"one\ncaf\xe9", "encoding", ERROR, 2),
        ("instruction.md", b"one\n\0", "nul-byte", ERROR, 2),
        ("instruction.md", b"one\r\ntwo", "crlf", WARNING, 1),
        ("instruction.md", b" \n", "empty-file", ERROR, None),
        ("tests/test.sh", b"\xef\xbb\xbf#!/bin/bash\ntrue\n", "byte-order-mark", ERROR, 1),
        ("tests/test.sh", b"#!/bin/bash\r\ntrue\r\n", "crlf", ERROR, 1),
        ("tests/test.sh", b"#!/bin/bash\ncat <<E\na\r\nE\n", "crlf", WARNING, 3),
        ("tests/test.sh", b"#!/bin/bash\n# caf\xe9\ntrue\n", "encoding", WARNING, 2),
        ("solution/solve.sh", b"#!/bin/bash\ntrue\0\n", "nul-byte", ERROR, 2),
        ("environment/Dockerfile", b"FROM x\r\nRUN y\r\n", "crlf", WARNING, 1),
        ("environment/Dockerfile", "FROM x\n".encode("utf-16"), "encoding-utf16", ERROR, 1),
    ],
)
def test_encodings(tmp_path: Path, path: str, data: bytes, code: str, severity: Severity, line: int | None) -> None:
    findings = check_bundle(on_disk(tmp_path, {path: data}))
    assert (code, severity, path, line) in found(findings), findings
    assert len({(f.code, f.file) for f in findings}) == len(findings)


def test_data_files_may_hold_any_bytes() -> None:
    data = "x\r\n".encode("utf-16") + b"\0\xff"
    assert check_bundle(sample({"environment/data.bin": data, "tests/data.csv": data})) == []


@pytest.mark.parametrize(
    ("link", "target", "code"),
    [
        ("a", "/etc/passwd", "link-escapes"),
        ("a", "../x", "link-escapes"),
        ("tests/a", "../../sample/task.toml", "link-escapes"),
        ("a", "tests/../../x", "link-escapes"),
        ("a", "a", "link-loop"),
    ],
)
def test_links_that_are_refused(tmp_path: Path, link: str, target: str, code: str) -> None:
    path = on_disk(tmp_path)
    (path / link).symlink_to(target)
    assert found(check_bundle(path)) == {(code, ERROR, link, None)}
    with pytest.raises(BundleError, match=code):
        read_bundle(path)


def test_a_link_that_escapes_through_another_link(tmp_path: Path) -> None:
    """`deep/er/up` is the bundle itself, so `up/..` is outside although the text of the path stays inside."""
    path = on_disk(tmp_path)
    (path / "deep/er").mkdir(parents=True)
    (path / "deep/er/up").symlink_to("../..")
    (path / "deep/er/out").symlink_to("up/../x")
    assert ("link-escapes", ERROR, "deep/er/out", None) in found(check_bundle(path))


def test_inner_links_are_followed_for_required_files(tmp_path: Path) -> None:
    path = on_disk(tmp_path)
    (path / "tests/test.sh").rename(path / "tests/real.sh")
    (path / "tests/test.sh").symlink_to("real.sh")
    (path / "oracle").symlink_to("solution")
    assert check_bundle(path) == []
    (path / "tests/real.sh").unlink()
    assert {f.code for f in check_bundle(path)} == {"link-dangling", "tests-missing"}


def test_special_files_are_refused_and_not_opened(tmp_path: Path) -> None:
    path = on_disk(tmp_path)
    os.mkfifo(path / "environment/pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path / "tests/sock"))
        assert found(check_bundle(path)) == {
            ("special-file", ERROR, "environment/pipe", None),
            ("special-file", ERROR, "tests/sock", None),
        }


def test_names_that_are_not_utf8_are_refused(tmp_path: Path) -> None:
    path = on_disk(tmp_path)
    with open(os.fsencode(path) + b"/tests/caf\xe9", "wb"):  # noqa: PTH123
        pass
    (finding,) = check_bundle(path)
    assert (finding.code, finding.file) == ("file-name", "tests/caf?")


def test_odd_names_are_fine(tmp_path: Path) -> None:
    names = ["-rf", "a b", "new\nline", "tab\t", "ünï", "*", "$(x)", "x" * 255]
    path = on_disk(tmp_path, {f"environment/{name}": "x" for name in names})
    assert check_bundle(path) == []
    assert {f"environment/{name}" for name in names} <= set(read_bundle(path).files)


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        (SizeLimits(file_bytes=1000), "too-large"),
        (SizeLimits(total_bytes=1200), "too-large"),
        (SizeLimits(files=5), "too-many-files"),
    ],
)
def test_sizes_are_capped(tmp_path: Path, limits: SizeLimits, code: str) -> None:
    path = on_disk(tmp_path, {"tests/z.bin": b"x" * 1100})
    assert code in {f.code for f in check_bundle(path, limits=limits)}
    with pytest.raises(BundleError, match=code):
        read_bundle(path, limits=limits)


def test_what_is_missing(tmp_path: Path) -> None:
    codes = {
        "task.toml": "toml-missing",
        "instruction.md": "instruction-missing",
        "tests/test.sh": "tests-missing",
        "solution/solve.sh": "solution-missing",
        "environment/Dockerfile": "image-missing",
    }
    for path, code in codes.items():
        root = on_disk(tmp_path, {path: None}, name=code)
        assert [f.code for f in check_bundle(root)] == [code]
    empty = tmp_path / "empty"
    empty.mkdir()
    assert {f.code for f in check_bundle(empty)} == {
        "toml-missing", "tests-missing", "solution-missing", "image-missing",
    }  # fmt: skip


def test_required_texts_are_no_links(tmp_path: Path) -> None:
    path = on_disk(tmp_path)
    (path / "instruction.md").rename(path / "text.md")
    (path / "instruction.md").symlink_to("text.md")
    assert [f.code for f in check_bundle(path)] == ["instruction-missing"]


def test_an_image_can_come_from_elsewhere() -> None:
    image = {"environment/Dockerfile": None, "task.toml": TOML + 'docker_image = "debian:12"\n'}
    assert check_bundle(sample(image)) == []
    compose = "services:\n  main:\n    build: .\n"
    assert check_bundle(sample({"environment/Dockerfile": None, "environment/docker-compose.yaml": compose})) == []
    separate = {"task.toml": TOML + '[verifier]\nenvironment_mode = "separate"\n', "tests/test.sh": None}
    assert [f.code for f in check_bundle(sample(separate))] == ["tests-missing"]
    assert check_bundle(sample({"task.toml": separate["task.toml"]})) == []
    assert check_bundle(sample({**separate, "tests/Dockerfile": "FROM x\n"})) == []
    named = TOML + '[verifier.environment]\ndocker_image = "verifier:1"\n'
    assert check_bundle(sample({"task.toml": named, "tests/test.sh": None})) == []


def test_a_path_that_is_no_directory_is_the_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such directory"):
        check_bundle(tmp_path / "x")


@given(st.sampled_from(sorted(TEXTS)), st.binary(max_size=300))
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_no_content_crashes_it(tmp_path: Path, path: str, data: bytes) -> None:
    root = on_disk(tmp_path, {path: data})
    for finding in check_bundle(root):
        assert finding.code
        assert finding.message
        assert "\n" not in finding.message


def test_links_of_a_bundle_in_memory_are_checked() -> None:
    bundle = sample()
    files = {**bundle.files, "a": BundleFile(target="/etc/passwd")}
    assert [f.code for f in check_bundle(bundle.model_copy(update={"files": files}))] == ["link-escapes"]


def test_a_finding_is_one_line_whatever_the_file_is_called(tmp_path: Path) -> None:
    path = on_disk(tmp_path)
    (path / "a\nb\x1b[31m").symlink_to("/etc")
    (finding,) = check_bundle(path)
    assert str(finding).isprintable()
    assert finding.file == "a\nb\x1b[31m"
