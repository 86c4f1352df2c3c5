"""Every rule has a hit that it finds, with its line, and a near miss that it lets pass."""

# ruff: noqa: E501

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envs_forge.bundle import BundleFile, check_bundle, find_bundles, read_bundle, write_bundle
from envs_forge.errors import UserError
from envs_forge.gold.lint import inspect, lint
from envs_forge.gold.lint.registry import RULES

from . import cases_content, cases_files, cases_reward
from .samples import CLEAN, Changes, changed, python_test, script

MODULES = (cases_reward, cases_files, cases_content)
HITS = [case for module in MODULES for case in module.HITS]
MISSES = [case for module in MODULES for case in module.MISSES]


@pytest.mark.parametrize(("code", "severity", "changes", "line"), HITS, ids=[case[0] for case in HITS])
def test_hits(code: str, severity: str, changes: Changes, line: int | None) -> None:
    findings = lint(changed(changes), select=[code])
    assert findings, "not found"
    assert (findings[0].severity.value, findings[0].line) == (severity, line), findings
    assert {f.code for f in findings} == {code}
    assert findings[0].fix


@pytest.mark.parametrize(("code", "changes"), MISSES, ids=[case[0] for case in MISSES])
def test_near_misses(code: str, changes: Changes) -> None:
    assert lint(changed(changes), select=[code]) == []


def test_every_rule_has_both() -> None:
    assert {case[0] for case in HITS} == set(RULES)
    assert {case[0] for case in MISSES} == set(RULES)
    assert len(RULES) >= 25


def test_a_clean_bundle_has_no_findings() -> None:
    bundle = changed({})
    assert check_bundle(bundle) == []
    assert lint(bundle) == []


def test_select_and_ignore() -> None:
    bundle = changed({"task.toml": "version = '1.0'\n[agent]\nlimit = 1\n"})
    assert {f.code for f in lint(bundle)} == {"legacy-key", "unknown-key", "network-unstated"}
    assert {f.code for f in lint(bundle, select=["legacy-key", "unknown-key"])} == {"legacy-key", "unknown-key"}
    assert {f.code for f in lint(bundle, ignore=["legacy-key"])} == {"unknown-key", "network-unstated"}
    assert lint(bundle, select=["legacy-key"], ignore=["legacy-key"]) == []


@pytest.mark.parametrize("argument", ["select", "ignore"])
def test_an_unknown_code_is_the_users_mistake(argument: str) -> None:
    with pytest.raises(UserError, match="did you mean legacy-key") as caught:
        lint(changed({}), **{argument: ["legacy-keys"]})
    assert caught.value.exit_code == 2


def test_findings_come_in_the_order_of_files_and_lines() -> None:
    findings = lint(changed({"task.toml": "version = '1.0'\n[agent]\nb = 1\na = 1\n", "tests/test.sh": "pytest\n"}))
    places = [(f.file, f.line or 0) for f in findings]
    assert places == sorted(places)


@given(st.sampled_from(sorted(set(CLEAN) - {"task.toml"})), st.binary(max_size=300))
@settings(max_examples=100)
def test_no_content_crashes_it(path: str, data: bytes) -> None:
    lint(changed({path: BundleFile(data=data or b"x", mode=0o755)}))


@given(st.lists(st.sampled_from(
    ["set -e", "if", "then", "fi", "else", "&&", "||", "|", "(", ")", "{", "}", "echo 1 > /logs/verifier/reward.txt", "f()",
     "exit", "trap", "'", '"', "$(", "case", "in", "esac", ";;", "for", "do", "done", "\n", "pytest", "$?", "<<E", "E", "f"]),
    max_size=25,
))  # fmt: skip
@settings(max_examples=200)
def test_no_shell_crashes_it(words: list[str]) -> None:
    lint(changed(script(" ".join(words))))


def test_the_examples_have_no_errors() -> None:
    for path in find_bundles([Path(__file__).parents[3] / "examples"]):
        findings = lint(read_bundle(path))
        assert [f for f in findings if f.severity.value == "error"] == [], path


def test_a_directory_gets_the_schema_check_and_the_rules(tmp_path: Path) -> None:
    path = write_bundle(changed({"task.toml": "version = '1.0'\r\n"}), tmp_path)
    assert {f.code for f in inspect(path)} == {"crlf", "legacy-key", "network-unstated"}
    assert {f.code for f in inspect(path, select=["crlf", "legacy-key"])} == {"crlf", "legacy-key"}
    assert {f.code for f in inspect(path, ignore=["crlf"])} == {"legacy-key", "network-unstated"}
    (path / "task.toml").write_text("[")
    assert {f.code for f in inspect(path)} == {"toml-syntax"}
    with pytest.raises(UserError, match="no lint rule"):
        inspect(path, select=["toml"])


@pytest.mark.parametrize(
    "body",
    [
        " && ".join(["true"] * 3000),
        "(" * 2000 + "true" + ")" * 2000,
        "if a; then " * 500 + "b; " + "fi; " * 500,
        "".join(f"f{n}() {{ {f'f{n + 1}; ' * 50} }}\n" for n in range(9)) + "f0\n",
        "trap 'a+(b' EXIT\na+(b() { true; }\n",
    ],
    ids=["chain", "nesting", "conditions", "calls", "names"],
)
def test_scripts_made_to_exhaust_it(body: str) -> None:
    lint(changed(script(body)))


@pytest.mark.parametrize(
    "body", ["x = " + "-" * 50_000 + "1\n", "x" + ".a" * 900 + "()\n", "x" + "()" * 5000, "(" * 5000]
)
def test_python_made_to_exhaust_it(body: str) -> None:
    lint(changed(python_test(body)))
