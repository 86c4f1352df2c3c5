"""What single tests said, where a bundle's tests report that: in a CTRF file, or in pytest's output.

Hostile like everything else that tests leave: for people and warnings, never a reward.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

CTRF = "ctrf.json"
MOST = 1000
MOST_CHARACTERS = 200
_STATUS = r"(?P<status>PASSED|FAILED|ERROR|XPASS|XFAIL)"
_NAME = r"(?P<name>[^\s:]+\.py::\S+)"
_LINES = (re.compile(rf"^{_STATUS} {_NAME}", re.MULTILINE), re.compile(rf"^{_NAME} {_STATUS}\b", re.MULTILINE))


def read_results(report: bytes | None, output: str) -> dict[str, bool]:
    """Name of each test → whether it passed; empty where the tests do not say. At most `MOST`.

    Args:
        report: Content of a CTRF file, if there is one.
        output: What the tests printed.
    """
    found = dict(_from_report(report)) if report else {}
    return dict(list((found or dict(_from_output(output))).items())[:MOST])


def _from_report(report: bytes) -> Iterator[tuple[str, bool]]:
    try:
        tests = json.loads(report)["results"]["tests"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return
    for test in tests if isinstance(tests, list) else ():
        if isinstance(test, Mapping) and test.get("status") in ("passed", "failed"):
            yield _short(test.get("name")), test["status"] == "passed"


def _from_output(output: str) -> Iterator[tuple[str, bool]]:
    for pattern in _LINES:
        for match in pattern.finditer(output):
            yield _short(match["name"]), match["status"] in ("PASSED", "XPASS")


def _short(name: Any) -> str:
    return str(name)[:MOST_CHARACTERS]
