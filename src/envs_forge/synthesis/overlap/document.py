"""A task as three texts, which is all that overlap is judged by, whatever form the task came in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields

from envs_forge.bundle.model import Bundle
from envs_forge.synthesis.bounded import bounded, within_budget
from envs_forge.synthesis.overlap.idle import shown, telling_code

MOST = 120_000
"""Bytes of one file that are read."""
_HARNESS = re.compile(
    r"/logs/verifier|\breward\b|^#!|^set -|^\s*(?:import|from) [\w.]+|\bapt(?:-get)?\b|\bpip\b|\bpytest\b|\buvx?\b"
    r"|\bcurl -LsSf\b|^\s*(?:fi|done|else|then|exit \d|esac)\s*$|canary|^\W*$",
    re.I,
)
"""Lines that stand in the scripts of unrelated tasks: they are no sign of a copy."""


@dataclass(frozen=True, slots=True)
class Document:
    """The texts of a task: each a string of lines, empty where the task has no such part."""

    id: str
    instruction: str
    solution: str = ""
    tests: str = ""

    @property
    def sections(self) -> tuple[tuple[str, str], ...]:
        """Name and text of the three."""
        names = [field.name for field in fields(self) if field.name != "id"]
        return tuple((name, getattr(self, name)) for name in names)


def document_of(bundle: Bundle) -> Document:
    """The texts of a bundle; binary files count for nothing."""
    return Document(bundle.id, bounded(bundle.instruction), _joined(bundle, "solution/"), _joined(bundle, "tests/"))


def telling_lines(name: str, text: str) -> Iterator[str]:
    """Lines of a section that say or do something, without what every harness has, blanks evened out."""
    lines = shown(text).split("\n") if name == "instruction" else telling_code(text)
    for line in lines:
        if not _HARNESS.search(line):
            yield " ".join(line.split())


def _joined(bundle: Bundle, folder: str) -> str:
    texts = []
    for path in sorted(bundle.files):
        file = bundle.files[path]
        if path.startswith(folder) and file.target is None and b"\0" not in file.data[:8192]:
            texts.append((path, bounded(file.data[:MOST].decode("utf-8-sig", "replace").replace("\r\n", "\n"))))
    return "\n".join(within_budget(texts).values())
