"""What tests expect as the answer, line by line, wherever they have it: data, constants, scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import PurePosixPath

from envs_forge.bundle.model import Bundle, Part
from envs_forge.plan.shelltext import parts_of
from envs_forge.synthesis.audit.expected_python import expected_in_python
from envs_forge.synthesis.audit.expected_shell import expected_in_shell
from envs_forge.synthesis.audit.parts import parse_python, texts_of
from envs_forge.synthesis.bounded import LINE_CHARS

_MOST_LINES = 5_000
_EXPECTED_NAME = re.compile(r"expect|want|gold|answer|correct|reference|truth", re.I)
_GIVEN_NAME = re.compile(
    r"inputs?\b|fixture|sample|other|\bdata\b|Dockerfile|requirements|\.(?:md|ini|cfg|toml|ya?ml)$"
)
_LINE_END = re.compile(r"\r?\n|\\n")


def expectations_of(bundle: Bundle) -> list[tuple[str, ...]]:
    """The texts that tests expect, each as its lines: those in files, in scripts, and under names in Python.

    Blank lines, and blanks around the others, are left out. JSON files and what stands in a comparison of Python are
    read by `literals_of`.
    """
    found: list[tuple[str, ...]] = []
    left = _MOST_LINES
    for text in _texts(texts_of(bundle, Part.TESTS)):
        lines = (line.strip()[:LINE_CHARS] for line in _LINE_END.split(text))
        kept = tuple(islice((line for line in lines if line), max(left, 0)))
        left -= len(kept)
        if kept:
            found.append(kept)
    return found


def _texts(texts: Mapping[str, str]) -> Iterator[str]:
    scripts = {path: text for path, text in texts.items() if path.endswith((".py", ".sh")) or text.startswith("#!")}
    told = "\n".join(scripts.values())
    for path, text in texts.items():
        if path in scripts:
            yield from _from_script(path, text)
        elif not path.endswith(".json") and _is_expectation(path, told):
            yield text


def _from_script(path: str, text: str) -> Iterator[str]:
    shell, python = ("", text) if path.endswith(".py") else parts_of(text)
    yield from expected_in_shell(shell)
    tree = parse_python(python)
    if tree is not None:
        yield from expected_in_python(tree)


def _is_expectation(path: str, told: str) -> bool:
    """Whether a file of the tests may be a result; one that is input for what is tested may be shown to anybody."""
    name = PurePosixPath(path).name
    given = _GIVEN_NAME.search(path.removeprefix("tests/")) is not None
    return not given and (name in told or _EXPECTED_NAME.search(name) is not None)
