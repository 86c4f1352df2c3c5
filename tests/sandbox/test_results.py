"""Results of single tests, from reports that may be anything."""

import json

import pytest

from envs_forge.sandbox.results import MOST, read_results


def report(*tests):
    return json.dumps({"results": {"tests": list(tests)}}).encode()


def test_a_report_comes_before_the_output():
    said = report(
        {"name": "a b", "status": "passed"}, {"name": "c", "status": "failed"}, {"name": "d", "status": "other"}
    )
    assert read_results(said, "PASSED test_x.py::test_e\n") == {"a b": True, "c": False}


def test_pytest_tells_in_its_summary_or_line_by_line():
    output = (
        "..\nPASSED test_x.py::test_a\nFAILED test_x.py::test_b - assert 1 == 2\n"
        "/tests/test_y.py::T::test_c[1] PASSED [ 50%]\n"
    )
    assert read_results(None, output) == {
        "test_x.py::test_a": True,
        "test_x.py::test_b": False,
        "/tests/test_y.py::T::test_c[1]": True,
    }


@pytest.mark.parametrize(
    "broken", [b"", b"{", b"[]", b'{"results": 3}', b'{"results": {"tests": {"name": 1}}}', b"\xff"]
)
def test_what_is_no_report_says_nothing(broken):
    assert read_results(broken, "all is well\n") == {}


def test_there_is_an_end():
    many = report(*({"name": "n" * 5000 + str(n), "status": "passed"} for n in range(5000)))
    assert len(read_results(many, "")) <= MOST
    assert max(map(len, read_results(many, ""))) <= 200
