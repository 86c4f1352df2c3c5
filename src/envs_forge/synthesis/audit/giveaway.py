"""Is the answer, or the way to it, given away in the instruction?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from envs_forge.plan.shelltext import parts_of
from envs_forge.synthesis.audit.literals import without_heredocs
from envs_forge.synthesis.audit.model import AuditCode, Finding
from envs_forge.synthesis.audit.statements import Statements, flat

LONG_LINE, LONG_WORDS = 24, 4
"""A line of the oracle with so many characters and words is no accident, wherever it stands."""
MANY_LINES, MUCH = 2, 0.4
"""So many lines of any length, and so large a share of them, are the solution."""
LONG_ANSWER = 12
"""Characters of an expected text that are."""
LONG_NUMBER = 3
ROWS = 3
SHORT_WORDS = 3
"""An expected line with so few words is a number under a name: the number alone is the answer."""
_FIELDS = re.compile(r"[^\s,;|=]+")
"""A date or a name has several words but one field: it may be the example of a format."""
_WORDS = re.compile(r"\w+")
_DIGITS = re.compile(r"(?<![\w.])(?:\d{3,}(?:\.\d+)?|\d+\.\d+)(?!\w|\.\d)")
_PLUMBING = re.compile(r"^(?:#|set -|mkdir -p|cd |import |from |with open|def |for |if |python3? -|cat >|EOF|\))")
_SHORT_LINE = 6
_SHOWN = 3


def given_away(what: Statements, parent: Statements) -> Iterator[Finding]:
    """Code of the oracle, or answers that tests expect and the oracle computes, in the instruction."""
    before = flat(parent.instruction)
    code = [line for line in _oracle_code(what) if line not in before]
    if code:
        evidence = f"the instruction holds code of the solution: {' ; '.join(code[:_SHOWN])}"
        yield Finding(AuditCode.ANSWER_IN_INSTRUCTION, evidence, "instruction.md")
    answers = [answer for answer in _answers(what) if answer not in parent.instruction]
    if answers:
        evidence = f"the instruction holds what the tests expect as the answer: {' ; '.join(answers[:_SHOWN])}"
        yield Finding(AuditCode.ANSWER_IN_INSTRUCTION, evidence, "instruction.md")


def _oracle_code(what: Statements) -> list[str]:
    """Commands of the oracle in the instruction; its other lines only where much of it is there.

    A statement of a schema or a format may well be the same in both.
    """
    text = flat(what.instruction)
    lines = [line for line in dict.fromkeys(map(flat, what.solution_text.split("\n"))) if len(line) >= _SHORT_LINE]
    found = [line for line in lines if line in text]
    if len(found) >= MANY_LINES and len(found) >= MUCH * len(lines):
        return found
    shell, _ = parts_of(what.solution_text)
    commands = {flat(line) for line in without_heredocs(shell).split("\n")}
    return [line for line in found if line in commands and _is_telling(line)]


def _is_telling(line: str) -> bool:
    return len(line) >= LONG_LINE and len(line.split()) >= LONG_WORDS and not _PLUMBING.match(line)


def _answers(what: Statements) -> Iterator[str]:
    """Expected texts and numbers that stand in the instruction though they are neither given nor in the oracle."""
    lines = {line for line in _lines(what.expectations) if len(_FIELDS.findall(line)) > 1}
    for answer in sorted(what.tests.expected | lines):
        if _is_telling_answer(answer) and answer in what.instruction and not _is_known(answer, what):
            yield answer
    short = {line for lines in what.expectations for line in lines if len(_WORDS.findall(line)) <= SHORT_WORDS}
    compared = what.tests.expected | what.tests.compared | short
    numbers = {match[0] for answer in compared for match in _DIGITS.finditer(answer)}
    for number in sorted(numbers & {match[0] for match in _DIGITS.finditer(what.instruction)}):
        if not _is_known(number, what):
            yield number


def _lines(expectations: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """Lines, and runs of them: rows that are too short to be telling alone are an answer together."""
    for lines in expectations:
        yield from lines
        yield from ("\n".join(lines[at : at + ROWS]) for at in range(len(lines) - ROWS + 1))


def _is_telling_answer(text: str) -> bool:
    return len(text) >= LONG_ANSWER and len(_WORDS.findall(text)) > 1 and not text.startswith("/")


def _is_known(text: str, what: Statements) -> bool:
    """Whether a text is given or is a demand: as a whole, or put together from words of the oracle, as a header is.

    Columns may be named in the data alone. A number of one or two digits stands in an oracle by accident.
    """
    if text in what.environment or text in what.solution_text:
        return True
    words = {*_WORDS.findall(text)}
    if any(word.isdigit() for word in words):
        return words <= what.solution_words and all(len(word) >= LONG_NUMBER for word in words if word.isdigit())
    return words <= what.solution_words | what.heading_words
