"""Does the oracle do what the instruction says?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from envs_forge.bundle.model import Bundle, Part
from envs_forge.synthesis.audit.literals import numbers_in
from envs_forge.synthesis.audit.model import AuditCode, Finding
from envs_forge.synthesis.audit.parts import texts_of
from envs_forge.synthesis.audit.statements import SMALL, TELLING, Statements, digits, listed, unlisted

_TICKED = re.compile(r"`([^`\n]+)`")
_FIELDS = re.compile(r"[,;|\t=:]")
_DATE = re.compile(r"\d{4}-\d\d-\d\d\S*|\b\d\d:\d\d(?::\d\d)?\b")
_UNITS = (7, 12, 24, 60, 100, 168, 1000, 1024, 1440, 3600, 10**6, 1024**2, 60_000, 86_400, 10**9, 1024**3)
"""Between units of time, of size, and of parts of a whole."""
_EXCHANGED = 2
"""More values than this that do not meet are examples on one side and technicalities on the other."""


def mismatched(what: Statements, parent: Statements) -> Iterator[Finding]:
    """The instruction names one thing and the oracle uses another in its place.

    That is, one or two values in the instruction's backticks, or numbers of it, do not occur in the solution, while the
    solution has one or two constants of the same kind that the instruction does not state, other than those that the
    seed's does not state either. Values have to occur in the data: what is exchanged is one label for another.
    """
    for kind, (idle, silent) in (("value", _values(what, parent)), ("number", _numbers(what, parent))):
        if 1 <= len(idle) <= _EXCHANGED and 1 <= len(silent) <= _EXCHANGED:
            evidence = (
                f"the instruction states the {kind} {listed(idle)}, which the solution does not use; the solution"
                f" uses {listed(silent)}, which the instruction does not state"
            )
            yield Finding(AuditCode.PARAMETER_MISMATCH, evidence, "instruction.md")


def _values(what: Statements, parent: Statements) -> tuple[list[str], list[str]]:
    ticked = {text for text in _TICKED.findall(what.instruction) if TELLING.fullmatch(text) and "/" not in text}
    idle = sorted(t for t in ticked & what.environment_words if t not in what.solution_text and not t.isdigit())
    technical = {text for text in parent.solution.texts if not parent.says(text)}
    texts = {text for text in what.solution.texts - technical if TELLING.fullmatch(text)}
    silent = sorted(t for t in texts & what.environment_words if "/" not in t and not what.says(t))
    return (idle, silent) if idle and silent and _are_exchangeable(idle, silent, what.bundle) else ([], [])


def _are_exchangeable(some: list[str], others: list[str], bundle: Bundle) -> bool:
    """Whether two of these stand in the same column, or both in one line, of a file of data."""
    for text in texts_of(bundle, Part.DATA).values():
        columns: dict[str, set[int]] = {value: set() for value in (*some, *others)}
        for line in text.split("\n"):
            fields = [part.strip(" \"'{}[]") for part in _FIELDS.split(line)]
            for place, value in enumerate(fields):
                if value in columns:
                    columns[value].add(place)
            if {*some} & {*fields} and {*others} & {*fields}:
                return True
        if any(columns[a] & columns[b] for a in some for b in others):
            return True
    return False


def _described(bundle: Bundle) -> set[str]:
    """Numbers that only describe what is given: years, how many files there are, how many lines they have."""
    texts = texts_of(bundle, Part.DATA).values()
    lines = {len(text.splitlines()) - header for text in texts for header in (0, 1)}
    return {str(number) for number in (*range(1900, 2101), *lines, len(texts))}


def _numbers(what: Statements, parent: Statements) -> tuple[list[str], list[str]]:
    used = set(re.findall(r"\d+", what.solution_text))
    text = unlisted(what.instruction)
    free = {number for number in numbers_in(text) - SMALL if number.isdigit()}
    idle = sorted(n for n in free - _described(what.bundle) if not used & {n, str(int(n) - 1), str(int(n) + 1)})
    # Digits of dates and times state nothing, those of other names might.
    said = what.free_numbers | digits(_DATE.sub("", text))
    silent = what.solution.numbers - (parent.solution.numbers - parent.numbers) - SMALL - said
    unsaid = sorted(n for n in silent if n.isdigit() and not said & {str(int(n) - 1), str(int(n) + 1)})
    pairs = {(a, b) for a in idle for b in unsaid if _are_one_amount(int(a), int(b))}
    return [n for n in idle if n not in {a for a, _ in pairs}], [n for n in unsaid if n not in {b for _, b in pairs}]


def _are_one_amount(one: int, other: int) -> bool:
    """Whether a number is another in another unit: 15 minutes are 900 seconds. One beyond it counts too."""
    less, more = sorted((one, other))
    return any(abs(more - less * unit) <= 1 for unit in _UNITS)
