"""What tests expect is found in every form they have it in, and nothing else is taken for it."""

import pytest

from envs_forge.synthesis.audit.expectations import expectations_of
from envs_forge.synthesis.audit.giveaway import given_away
from envs_forge.synthesis.audit.statements import Statements

from ..scripted.faults import text, with_files
from .children import child, seed

ROWS = ["core: 17421 tests in 12 builds", "mobile: 8235 tests in 9 builds", "tools: 30377 tests in 21 builds"]
BLOCK = "\n".join(ROWS)
QUOTES = '"' * 3


def bundle(files):
    return with_files(seed(3), {"tests/expected.json": "[]\n", "tests/check.py": "", **files})


def lines(files):
    return {line for one in expectations_of(bundle(files)) for line in one}


SHELL = [
    f'[ "$(cat /app/out)" = "{BLOCK}" ] && reward=1',
    f"[[ '{BLOCK}' == $(cat /app/out) ]]",
    f'want=\'{BLOCK}\'\n[ "$(cat /app/out)" = "$want" ]',
    " && ".join(f"grep -qxF '{row}' /app/out" for row in ROWS),
    " && ".join(f"! grep -q '^{row}$' /app/out" for row in ROWS),
    f"cat <<EOF | diff - /app/out\n{BLOCK}\nEOF",
    f"cat > /tmp/want.txt <<'EOF'\n{BLOCK}\nEOF\ncmp /tmp/want.txt /app/out",
    f'want=$(cat <<\'EOF\'\n{BLOCK}\nEOF\n)\n[ "$(cat /app/out)" = "$want" ]',
    f"printf '{BLOCK.replace(chr(10), chr(92) + 'n')}' | cmp - /app/out",
    f"diff <(printf '{BLOCK.replace(chr(10), chr(92) + 'n')}') /app/out",
    f"echo '{BLOCK}' > /tmp/want\ndiff /tmp/want /app/out",
]
PYTHON = [
    f"EXPECTED = {QUOTES}{BLOCK}\n{QUOTES}\nassert got == EXPECTED\n",
    f"WANT = {ROWS!r}\nassert got.splitlines() == WANT\n",
    f"WANT: list[str] = {ROWS!r}\nfor row in WANT:\n    assert row in got\n",
    f"WANT = {ROWS!r}\nassert all(row in got for row in sorted(WANT))\n",
    f"def test(self):\n    self.assertEqual(got, {BLOCK!r})\n",
    f"def check(name, got, want):\n    assert got == want\nWANT = {ROWS!r}\ncheck('x', got, WANT)\n",
    f"CASES = {[('x', row) for row in ROWS]!r}\nfor name, want in CASES:\n    assert run(name) == want\n",
    f"@pytest.mark.parametrize('name,want', {[('x', row) for row in ROWS]!r})\n"
    "def test(name, want):\n    assert run(name) == want\n",
    f"WANT = {dict.fromkeys('abc', BLOCK)!r}\nassert got == WANT['a']\n",
]


@pytest.mark.parametrize("script", SHELL)
def test_what_shell_compares_with(script):
    assert {*ROWS} <= lines({"tests/test.sh": f"#!/bin/bash\n{script}\n"})


@pytest.mark.parametrize("code", PYTHON)
def test_what_python_compares_with(code):
    assert {*ROWS} <= lines({"tests/check.py": code})
    assert {*ROWS} <= lines({"tests/test.sh": f"python3 - <<'EOF'\nimport os\n{code}EOF\n"})


@pytest.mark.parametrize(
    ("name", "script"), [("rows.csv", "cmp -s /tests/rows.csv /app/out"), ("expected.txt", "true")]
)
def test_what_a_file_of_expectations_says(name, script):
    assert {*ROWS} <= lines({f"tests/{name}": BLOCK + "\n", "tests/test.sh": script + "\n"})


@pytest.mark.parametrize(
    "files",
    [
        {"tests/test.sh": f"echo 'FAIL: {ROWS[0]}'\n"},
        {"tests/test.sh": f"fail() {{ echo \"$1\"; }}\ncmp a b || fail '{ROWS[0]}'\n"},
        {"tests/test.sh": f"message='{ROWS[0]}'\necho \"$message\"\n"},
        {"tests/test.sh": f"/app/stats <<'EOF'\n{BLOCK}\nEOF\n"},
        {"tests/check.py": f"assert got == other, {ROWS[0]!r}\n"},
        {"tests/check.py": f"COMMAND = {ROWS[0]!r}\nassert run(COMMAND) == 0\n"},
        {"tests/check.py": f"for name, want in [({ROWS[0]!r}, 1)]:\n    assert run() == want, name\n"},
        {"tests/check.py": f"self.assertEqual(got, other, {ROWS[0]!r})\n"},
        {"tests/input.txt": BLOCK, "tests/test.sh": "/app/stats < /tests/input.txt\n"},
        {"tests/fixtures/rows.txt": BLOCK, "tests/test.sh": "/app/stats < /tests/fixtures/rows.txt\n"},
    ],
)
def test_messages_commands_and_input_are_no_expectations(files):
    assert not {*ROWS} & lines(files)


def told(said, script):
    """Evidence against a sound child whose tests are this script and whose instruction has one more paragraph."""
    parent = seed(3)
    made, _ = child(parent, "increase/in_depth")
    texts = {"tests/check.py": "", "tests/expected.json": "[]\n", "tests/test.sh": f"#!/bin/bash\n{script}\n"}
    texts["instruction.md"] = f"{text(made, 'instruction.md')}\n{said}\n"
    found = given_away(Statements(with_files(made, texts)), Statements(parent))
    return [finding.evidence for finding in found]


@pytest.mark.parametrize("script", SHELL)
def test_an_answer_in_the_instruction_is_given_away(script):
    assert told("", script) == []
    assert told(f"The file then reads:\n\n```\n{BLOCK}\n```", script)


def test_short_rows_are_given_away_together_and_short_numbers_under_a_name():
    script = "grep -qx 'core,17' /app/out\n[ \"$(cat /app/out)\" = 'core,17\ntools,4\nweb,31' ]\n"
    assert told("A row is written like `core,17`.", script) == []
    assert told("core,17\ntools,4\nweb,31", script)
    assert told("There are 17421.", "grep -qx 'total 17421' /app/out")


@pytest.mark.parametrize(
    ("said", "script"),
    [
        ("Begin with the line `owner | component`.", "head -n 1 /app/out | grep -qxF 'owner | component'"),
        ("Take the rows of `/app/build/parts.csv`.", "grep -qxF '/app/build/parts.csv' /app/out"),
        ("An hour is written as `2025-05-03T14`.", "grep -qxF '2025-05-03T14' /app/out"),
        ("Of equal rows keep the first.", "grep -qxF 'first' /app/out"),
        ("Write a row like `shop: 99 tests in 2 builds`.", f"grep -qxF '{ROWS[0]}' /app/out"),
    ],
)
def test_what_has_to_be_stated_is_no_answer(said, script):
    assert told(said, script) == []
