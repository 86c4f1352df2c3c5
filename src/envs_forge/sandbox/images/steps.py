"""Instructions of a Dockerfile with flags and arguments apart, and what COPY and ADD take from the build context."""

from __future__ import annotations

import re
from dataclasses import dataclass

from envs_forge.sandbox.images.dockerfile import Instruction

_FLAG = re.compile(r"--[a-z-]+(?:=\S*)?$")
_ELSEWHERE = re.compile(r"[*?\[$\\]|<<|://|^git@")
_JSON_WORD = re.compile(r'"((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True, slots=True)
class Step:
    """One instruction: keyword, arguments without flags, flags, line."""

    keyword: str
    words: tuple[str, ...]
    flags: tuple[str, ...]
    text: str
    line: int


def step_of(text: str, instruction: Instruction) -> Step:
    """An instruction of the Dockerfile `text`, taken apart."""
    words = [word.text for word in instruction.words()][1:]
    flags = []
    while words and _FLAG.match(words[0]):
        flags.append(words.pop(0))
    keyword = instruction.text.split(None, 1)[0]
    rest = instruction.text.strip()[len(keyword) :]
    for flag in flags:
        rest = rest.replace(flag, "", 1)
    at = text.count("\n", 0, instruction.offsets[0]) + 1
    return Step(keyword.upper(), tuple(words), tuple(flags), rest.strip(), at)


def sources_of(step: Step) -> list[str]:
    """The paths that a COPY or ADD takes from the build context, as written.

    Patterns, variables, here-documents, other stages and addresses are left out: they say nothing certain about it.
    """
    if step.keyword not in ("COPY", "ADD") or any(flag.startswith(("--from", "--exclude")) for flag in step.flags):
        return []
    listed = step.text.startswith("[")
    words = _JSON_WORD.findall(step.text) if listed else [word.strip("\"'") for word in step.words]
    return [word for word in words[:-1] if not _ELSEWHERE.search(word)]


def name_in_context(source: str) -> str:
    """A source as a path below `environment/`; `.` for all of it."""
    return source.strip("/").removeprefix("./").rstrip("/") or "."
