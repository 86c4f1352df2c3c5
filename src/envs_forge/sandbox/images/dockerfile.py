"""Reads a Dockerfile as BuildKit does, as far as it takes to find the images that it names.

An instruction is kept as one logical line (continuations joined, comments in between dropped) together with the
place of each of its characters in the file, so that a word can be replaced where it stands and everything else
stays as it was, byte for byte: comments, line ends, heredocs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

DIRECTIVE = re.compile(r"#\s*([a-zA-Z][a-zA-Z0-9]*)\s*=\s*(.+?)\s*$")
KNOWN_DIRECTIVES = frozenset({"syntax", "escape", "check"})
HEREDOC_KEYWORDS = frozenset({"RUN", "COPY", "ADD"})
HEREDOC = re.compile(r"\d*<<(-?)([^<]+)")
WORD = re.compile(r"""(?:[^\s"'\\]|\\.|"(?:[^"\\]|\\.)*"|'[^']*'|["'\\])+""", re.DOTALL)


class DockerfileError(Exception):
    """The file cannot be read as a Dockerfile; the message says why, in one line."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word of an instruction. `offsets[i]` is the place in the file of character i of `text`."""

    text: str
    offsets: tuple[int, ...]

    def span(self, start: int = 0, end: int | None = None) -> tuple[int, int]:
        """Where the characters from `start` up to `end` stand in the file."""
        places = self.offsets[start:end]
        return places[0], places[-1] + 1


@dataclass(frozen=True, slots=True)
class Directive:
    """A parser directive such as `# syntax=…`: its value, and where its whole line stands in the file."""

    value: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction. `offsets[i]` is the place in the file of character i of `text`."""

    text: str
    offsets: tuple[int, ...]

    @property
    def keyword(self) -> str:
        """FROM, RUN and so on, in capitals."""
        return self.text.split(None, 1)[0].upper()

    def words(self) -> list[Word]:
        """The instruction's words, its keyword first; quotes are kept."""
        return [Word(match[0], self.offsets[match.start() : match.end()]) for match in WORD.finditer(self.text)]


@dataclass(frozen=True, slots=True)
class Dockerfile:
    """A Dockerfile's text, the parser directives at its top by name, and its instructions."""

    text: str
    directives: dict[str, Directive]
    instructions: tuple[Instruction, ...]


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    """Without its line end."""
    start: int


def decode(data: bytes) -> str:
    """The text of a Dockerfile. Bytes that are no UTF-8 survive `encode`.

    Raises:
        DockerfileError: It is not text in an encoding that BuildKit reads.
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in data:
        raise DockerfileError("the Dockerfile is not UTF-8 text")
    return data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", errors="surrogateescape")


def encode(text: str) -> bytes:
    """The inverse of `decode`."""
    return text.encode("utf-8", errors="surrogateescape")


def parse(text: str) -> Dockerfile:
    """Take a Dockerfile apart.

    Raises:
        DockerfileError: It has no instruction.
    """
    lines = list(_lines(text))
    directives = _directives(lines)
    escape = directives["escape"].value if "escape" in directives else "\\"
    instructions = tuple(_instructions(lines, "`" if escape == "`" else "\\"))
    if not instructions:
        raise DockerfileError("the Dockerfile has no instruction")
    return Dockerfile(text, directives, instructions)


def _lines(text: str) -> Iterator[_Line]:
    start = 0
    for line in text.split("\n"):
        yield _Line(line.removesuffix("\r"), start)
        start += len(line) + 1


def _directives(lines: list[_Line]) -> dict[str, Directive]:
    """Directives of the top; the first line that is none ends them."""
    found: dict[str, Directive] = {}
    for number, line in enumerate(lines):
        match = DIRECTIVE.match(line.text)
        if match is None or match[1].lower() not in KNOWN_DIRECTIVES:
            break
        end = lines[number + 1].start if number + 1 < len(lines) else line.start + len(line.text)
        found.setdefault(match[1].lower(), Directive(match[2], line.start, end))
    return found


def _instructions(lines: list[_Line], escape: str) -> Iterator[Instruction]:
    number = 0
    while number < len(lines):
        stripped = lines[number].text.strip()
        if not stripped or stripped.startswith("#"):
            number += 1
            continue
        instruction, number = _join(lines, number, escape)
        if instruction is not None:
            yield instruction
            number = _after_heredocs(lines, number, instruction)


def _join(lines: list[_Line], number: int, escape: str) -> tuple[Instruction | None, int]:
    """The logical line that begins at `number`, and the number of the line after it."""
    continuation = re.compile(re.escape(escape) + r"[ \t]*$")
    text = ""
    offsets: list[int] = []
    while number < len(lines):
        line = lines[number]
        number += 1
        if text and (not line.text.strip() or line.text.lstrip().startswith("#")):
            continue
        end = continuation.search(line.text)
        kept = line.text[: end.start()] if end else line.text
        text += kept
        offsets += range(line.start, line.start + len(kept))
        if end is None:
            break
    return (Instruction(text, tuple(offsets)), number) if text.strip() else (None, number)


def _after_heredocs(lines: list[_Line], number: int, instruction: Instruction) -> int:
    """The number of the line after the heredocs that `instruction` opens."""
    if instruction.keyword not in HEREDOC_KEYWORDS:
        return number
    for word in instruction.words()[1:]:
        match = HEREDOC.fullmatch(word.text)
        if match:
            number = _after_heredoc(lines, number, match[2].replace('"', "").replace("'", ""), bool(match[1]))
    return number


def _after_heredoc(lines: list[_Line], number: int, name: str, chomp: bool) -> int:
    """One that is never closed is no heredoc here: the build will say what is wrong with it."""
    for later in range(number, len(lines)):
        text = lines[later].text.lstrip("\t") if chomp else lines[later].text
        if text == name:
            return later + 1
    return number
