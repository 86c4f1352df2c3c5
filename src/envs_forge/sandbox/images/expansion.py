"""Expands `$NAME` and `${NAME…}` in FROM lines, as the Dockerfile frontend does for global ARGs."""

from __future__ import annotations

import re
from collections.abc import Mapping

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def expand(text: str, variables: Mapping[str, str]) -> str:
    """Fill in variables; unset ones are empty. Knows `${N:-x}`, `${N-x}`, `${N:+x}`, `${N+x}`, quotes, escapes."""
    out, at = "", 0
    while at < len(text):
        char = text[at]
        if char == "\\" and at + 1 < len(text):
            out, at = out + text[at + 1], at + 2
        elif char in "\"'":
            at += 1
        elif char == "$":
            value, at = _variable(text, at, variables)
            out += value
        else:
            out, at = out + char, at + 1
    return out


def _variable(text: str, at: int, variables: Mapping[str, str]) -> tuple[str, int]:
    """The value of the reference at `at`, and where the text goes on."""
    if text.startswith("${", at):
        end = _closing(text, at + 2)
        return _braced(text[at + 2 : end], variables), end + 1
    match = NAME.match(text, at + 1)
    return (variables.get(match[0], ""), match.end()) if match else ("$", at + 1)


def _closing(text: str, at: int) -> int:
    """Where the brace that was opened before `at` closes; the end of the text if it does not."""
    depth = 1
    for place in range(at, len(text)):
        if text.startswith("${", place):
            depth += 1
        elif text[place] == "}":
            depth -= 1
            if depth == 0:
                return place
    return len(text)


def _braced(inside: str, variables: Mapping[str, str]) -> str:
    match = NAME.match(inside)
    if match is None:
        return ""
    value, rest = variables.get(match[0]), inside[match.end() :]
    if rest.startswith(":"):
        value, rest = value or None, rest[1:]
    if rest.startswith("-"):
        return expand(rest[1:], variables) if value is None else value
    if rest.startswith("+"):
        return "" if value is None else expand(rest[1:], variables)
    return value or ""
