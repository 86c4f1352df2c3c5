"""What shell scripts, Python code, Dockerfiles and prose name: commands, imports, packages, paths.

Read by patterns, not by a parser: good enough to see what a script uses, and unable to fail on what is no script.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

_HEREDOC = re.compile(r"<<-?[ \t]*(['\"]?)([A-Za-z_]\w*)\1")
_PYTHON = re.compile(
    r"\A#!.*python|^(?:import|from)[ \t]+[A-Za-z_][\w.]*(?:[ \t]+import\b|[ \t]*,|[ \t]+as\b|[ \t]*$)", re.M
)
_IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import\b|import[ \t]+([\w.,\t ]+))", re.MULTILINE)
_COMMENT = re.compile(r"(?:^|(?<=\s))#.*")
_STRING = re.compile(r"'[^']*'")
_LITERAL = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"")
_START = re.compile(r"[\n;|&(`{!]|\b(?:then|do|else|elif|if|while|until)\b")
_ASSIGNMENT = re.compile(r"\s*[A-Za-z_]\w*=(?:\"[^\"]*\"|[^\s\"]*)(?=\s)")
_WORD = re.compile(r"\s*([\w./+-]+)")
_CARRIERS = frozenset({"sudo", "exec", "command", "env", "xargs", "time", "nohup", "timeout", "nice", "builtin"})
_OPERAND = re.compile(r"-\S*|[0-9.]+[smh]?|[A-Za-z_]\w*=\S*")
_INSTALL = re.compile(r"\b(?:apt-get|apt|apk|dnf|yum)\b[^\n&;|]*?\b(?:install|add)\b([^\n&;|]*)")
_PATH = re.compile(
    r"[\w./*+-]*[\w*+-]\.[A-Za-z0-9][\w.*-]*|(?<![\w/])\.[a-z]\w+|/?(?:[\w.-]+/)+[\w.-]+|\b[Mm]akefile\b|\bcrontab\b"
)


@dataclass(frozen=True, slots=True)
class Heredoc:
    """A here-document: from its `<<` to the end of its last line, and what stands between."""

    start: int
    end: int
    body: str


def parts_of(script: str) -> tuple[str, str]:
    """A script's shell and the Python code in it (heredocs that look like Python, or all of it)."""
    if _PYTHON.search(script.split("\n", 1)[0]) or (_PYTHON.search(script) and "<<" not in script):
        return "", script
    python = [doc for doc in heredocs(script) if _PYTHON.search(doc.body)]
    shell, place = [], 0
    for doc in python:
        shell += [script[place : doc.start], "\n"]
        place = doc.end
    return "".join([*shell, script[place:]]), "\n\n".join(doc.body for doc in python)


def heredocs(script: str) -> list[Heredoc]:
    """The here-documents of a shell script that end, in their order. Takes time in proportion to its length."""
    lines = script.split("\n")
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    ends: dict[str, list[int]] = {}
    for number, line in enumerate(lines):
        ends.setdefault(line.strip(" \t"), []).append(number)
    found: list[Heredoc] = []
    number = 0
    while number < len(lines):
        for match in _HEREDOC.finditer(lines[number]):
            closing = ends.get(match[2], [])
            at = bisect_right(closing, number)
            if at < len(closing):
                first, last = starts[number + 1], starts[closing[at]]
                end = last + len(lines[closing[at]])
                found.append(Heredoc(starts[number] + match.start(), end, script[first:last]))
                number = closing[at]
                break
        number += 1
    return found


def commands_of(shell: str) -> Iterator[str]:
    """Words in command position, without directories: `/usr/bin/sort` is `sort`."""
    text = _STRING.sub("''", _COMMENT.sub("", shell.replace("\\\n", " ")))
    for piece in _START.split(text):
        words = _words(piece)
        if words:
            yield from words


def _words(piece: str) -> list[str]:
    """The command that a piece begins with and, where it only carries another one, that one too."""
    place, found = 0, list[str]()
    while (match := _ASSIGNMENT.match(piece, place) or _WORD.match(piece, place)) is not None:
        if match.re is _ASSIGNMENT:
            place = match.end()
            continue
        word, place = match[1].rsplit("/", 1)[-1], match.end()
        if found and _OPERAND.fullmatch(match[1]):
            continue
        found.append(word)
        if word not in _CARRIERS:
            break
    return found


def imports_of(python: str) -> frozenset[str]:
    """Modules that Python code imports, each with the packages above it."""
    found: set[str] = set()
    for match in _IMPORT.finditer(python):
        for name in (match[1] or match[2]).split(","):
            parts = name.split()[0].split(".") if name.split() else []
            found.update(".".join(parts[: depth + 1]) for depth in range(len(parts)))
    return frozenset(found)


def strings_of(python: str) -> str:
    """Texts of string literals on one line, a line each."""
    return "\n".join(match[0][1:-1] for match in _LITERAL.finditer(python))


def installed_by(dockerfile: str) -> frozenset[str]:
    """Packages that a Dockerfile installs from the distribution, without versions."""
    joined = dockerfile.replace("\\\n", " ")
    words = [word for match in _INSTALL.finditer(joined) for word in match[1].split()]
    return frozenset(word.split("=")[0] for word in words if not word.startswith("-"))


def paths_in(text: str) -> list[str]:
    """Words that look like the name of a file."""
    return [match[0].rstrip(".") for match in _PATH.finditer(text)]
