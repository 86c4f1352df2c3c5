"""Which tests failed, from what test programs print: pytest, unittest, TAP, Go, and lines that begin with FAIL."""

from __future__ import annotations

import re

from envs_forge.rollout.digest.clean import one_line

NAME_CHARACTERS = 100
MESSAGE_CHARACTERS = 160
_MOST_LINES = 4000

_HINT = re.compile("FAIL|ERROR|^not ok|[✗✘✖]")
_FORMS = (
    re.compile(r"(?:FAILED|ERROR) (?P<name>\S+::.+?)(?: - (?P<message>.*))?"),  # pytest's summary
    re.compile(r"(?P<name>\S+::.+?) (?:FAILED|ERROR)(?: +\[ *\d+%\])?(?P<message>)"),  # pytest -v
    re.compile(r"(?:FAIL|ERROR): (?P<name>\w+ \([\w.]+\))(?P<message>)"),  # unittest
    re.compile(r"not ok \d+(?: -)? (?P<name>.+?)(?: # (?P<message>.*))?"),  # TAP
    re.compile(r"--- FAIL: (?P<name>\S+)(?: \([\d.]+s\))?(?P<message>)"),  # Go
    re.compile(r"(?:\[?FAIL(?:ED|URE)?\]?:? +|[✗✘✖] *)(?P<name>[^:]+?)(?:: (?P<message>.*))?"),  # home-made
)


def failed_tests(output: str) -> dict[str, str]:
    """Messages of failed tests by name, in the order in which they were reported.

    Args:
        output: What the tests printed; hostile.
    """
    found: dict[str, str] = {}
    for line in output.splitlines()[-_MOST_LINES:]:
        if _HINT.search(line) is None:
            continue
        match = _match(one_line(line, NAME_CHARACTERS + MESSAGE_CHARACTERS + 20))
        if match is None:
            continue
        name = one_line(match["name"], NAME_CHARACTERS)
        message = one_line(match["message"] or "", MESSAGE_CHARACTERS)
        found[name] = found.get(name) or message
    return found


def _match(line: str) -> re.Match[str] | None:
    """A line that reports a failed test; TAP's known failures are none."""
    if line.startswith("not ok") and re.search(r"# *(todo|skip)\b", line, re.IGNORECASE):
        return None
    return next((match for form in _FORMS if (match := form.fullmatch(line)) is not None), None)
