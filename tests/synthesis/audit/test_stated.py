"""What tests demand and what the instruction states, on tasks with tests in Python and shell."""

import pytest

from envs_forge.bundle.model import BundleFile
from envs_forge.bundle.reading import make_bundle
from envs_forge.synthesis.audit.giveaway import given_away
from envs_forge.synthesis.audit.mismatch import mismatched
from envs_forge.synthesis.audit.model import AuditCode as Code
from envs_forge.synthesis.audit.stated import unstated_keys, unstated_numbers, unstated_paths
from envs_forge.synthesis.audit.statements import Statements

SAID = """Count the lines of `/app/in.txt` that are longer than 40 characters.
Write `{"long": n}` to `/app/out.json`.
"""
SOLVE = """#!/bin/bash
python3 - <<'EOF'
import json
lines = open("/app/in.txt").read().splitlines()
json.dump({"long": sum(len(line) > 40 for line in lines)}, open("/app/out.json", "w"))
EOF
"""
TESTS = """
import json
from pathlib import Path
EXPECTED = {"long": 12345}

def test_it():
    found = json.loads(Path("/app/out.json").read_text())
    assert found["long"] == EXPECTED["long"]
"""


def bundle(said=SAID, solve=SOLVE, tests=TESTS, data="some words\n", **more):
    files = {
        "instruction.md": said,
        "task.toml": 'schema_version = "1.4"\n',
        "environment/Dockerfile": "FROM debian:12\nCOPY in.txt /app/\n",
        "environment/in.txt": data,
        "solution/solve.sh": solve,
        "tests/test_it.py": tests,
        "tests/test.sh": "#!/bin/bash\npython3 -m pytest /tests/test_it.py\n",
    }
    return make_bundle("task", {path: BundleFile(data=text.encode()) for path, text in (files | more).items()})


def found(check, *args, **texts):
    return [finding.code for finding in check(Statements(bundle(**texts)), *args)]


@pytest.mark.parametrize("check", [unstated_paths, unstated_keys, unstated_numbers])
def test_a_task_that_says_what_it_tests_passes(check):
    assert found(check) == []


def test_a_key_that_only_the_oracle_knows():
    assert found(unstated_keys, said=SAID.replace("long", "n_long")) == [Code.UNSTATED_KEY]


def test_a_key_that_stands_in_the_data_is_known():
    assert found(unstated_keys, said=SAID.replace('"long"', "that"), data="long,short\n") == []


def test_a_key_of_the_tests_own_tables_is_no_demand():
    more = TESTS + '\n\nCASES = [{"case": 1}]\nassert CASES[0]["case"]\n'
    assert found(unstated_keys, tests=more) == []


def test_a_threshold_that_only_oracle_and_tests_know():
    strict = TESTS + '\n\ndef test_short():\n    assert all(len(line) > 40 for line in open("/app/in.txt"))\n'
    assert found(unstated_numbers, tests=strict) == []
    assert found(unstated_numbers, tests=strict, said=SAID.replace("40", "many")) == [Code.UNSTATED_NUMBER]


@pytest.mark.parametrize("words", ["forty-two", "42", "42.0"])
def test_numbers_may_be_said_in_several_ways(words):
    said, tests = SAID.replace("40", words), TESTS + "\nassert 5 > 42\n"
    expected = [Code.UNSTATED_NUMBER] if words == "forty-two" else []
    assert found(unstated_numbers, said=said, tests=tests, solve=SOLVE.replace("40", "42")) == expected


def test_number_words_up_to_twelve_are_read():
    said, tests = SAID.replace("40", "twelve"), TESTS + "\nassert 5 > 12\n"
    assert found(unstated_numbers, said=said, tests=tests, solve=SOLVE.replace("40", "12")) == []


def test_a_path_that_the_instruction_does_not_name():
    solve, tests = SOLVE.replace("out.json", "report.json"), TESTS.replace("out.json", "report.json")
    assert found(unstated_paths, solve=solve, tests=tests) == [Code.UNSTATED_PATH]


@pytest.mark.parametrize("path", ["/tests/data.json", "/tmp/x.json", "/logs/verifier/reward.txt", "/usr/bin/env"])
def test_paths_of_the_harness_are_no_demand(path):
    assert found(unstated_paths, solve=f"{SOLVE}\necho {path}\n", tests=f'{TESTS}\nassert open("{path}")\n') == []


def test_a_file_that_the_tests_make_for_themselves_is_no_demand():
    assert found(unstated_paths, tests=f'{TESTS}\nopen("/app/scratch.txt", "w")\n') == []


def test_shell_tests_are_read_too():
    shell = {"tests/test.sh": "#!/bin/bash\n[ \"$(jq '.total' /app/report.json)\" -eq 77 ] && echo 1\n"}
    what = Statements(bundle(solve="#!/bin/bash\njq -n '{\"total\": 77}' > /app/report.json\n", tests="", **shell))
    assert [f.code for f in unstated_paths(what)] == [Code.UNSTATED_PATH]
    assert [f.code for f in unstated_keys(what)] == [Code.UNSTATED_KEY]
    assert [f.code for f in unstated_numbers(what)] == [Code.UNSTATED_NUMBER]


def test_the_number_that_tests_expect_is_given_away():
    plain = Statements(bundle())
    for expected in ("12345", "12345.0", '"12345"', "pytest.approx(12345)"):
        told = {"said": SAID + "The answer is 12345.\n", "tests": TESTS.replace('EXPECTED["long"]', expected)}
        assert found(given_away, plain, **told) == [Code.ANSWER_IN_INSTRUCTION]
    assert found(given_away, plain, data="12345\n", **told) == []


def test_one_command_of_the_oracle_is_enough():
    solve = "#!/bin/bash\nset -e\nsort -u /app/in.txt | wc -l > /app/out.json\ncat /app/out.json\nls\n"
    plain = Statements(bundle())
    assert found(given_away, plain, solve=solve) == []
    said = SAID + "Hint: `sort -u /app/in.txt | wc -l > /app/out.json`.\n"
    assert found(given_away, plain, solve=solve, said=said) == [Code.ANSWER_IN_INSTRUCTION]


@pytest.mark.parametrize("text", ["def f(:", "\x00", "x = " + "(" * 5000, "", "if [ -f x; then"])
def test_broken_code_is_read_without_an_error(text):
    what = Statements(bundle(solve=text, tests=text))
    for check in (unstated_paths, unstated_keys, unstated_numbers):
        assert list(check(what)) == []


def mismatches(**texts):
    return found(mismatched, Statements(bundle()), **texts)


def test_another_number_than_the_oracle_uses():
    assert mismatches() == []
    assert mismatches(said=SAID.replace("40", "70")) == [Code.PARAMETER_MISMATCH]
    assert mismatches(said=SAID.replace("40", "41")) == [], "more than 40 is at least 41"


@pytest.mark.parametrize(
    ("stated", "used"),
    [
        ("for 15 minutes", "> 900"),
        ("for at least 15 minutes", ">= 900"),
        ("of 12 MB", "> 12288"),
        ("of 12 MB", "> 12_000_000"),
        ("of 7200 seconds", "> 120"),
    ],
)
def test_an_amount_in_another_unit_is_the_same_amount(stated, used):
    said = SAID.replace("longer than 40 characters", f"beyond a limit {stated}")
    assert mismatches(said=said, solve=SOLVE.replace("> 40", used)) == []
    assert mismatches(said=said, solve=SOLVE.replace("> 40", "> 77")) == [Code.PARAMETER_MISMATCH]


@pytest.mark.parametrize("described", ["The file has 25 lines.", "It is from 2019.", "There are 40 of them at most."])
def test_numbers_that_describe_what_is_given_are_no_parameters(described):
    said = SAID.replace("longer than 40 characters", f"empty in the fourth field. {described}")
    assert mismatches(said=said, solve=SOLVE.replace("> 40", "< 4"), data="words\n" * 25) == []


def test_another_label_than_the_oracle_uses():
    data, said = (
        "id,state\n1,open\n2,closed\n",
        "Count the rows of `/app/in.txt` whose `state` is `{}` into `/app/out.json`.\n",
    )
    solve = "#!/bin/bash\npython3 - <<'EOF'\nimport csv\nrows = [r for r in csv.reader(f) if r[1] == 'open']\nEOF\n"
    assert mismatches(said=said.format("open"), solve=solve, data=data) == []
    assert mismatches(said=said.format("closed"), solve=solve, data=data) == [Code.PARAMETER_MISMATCH]
