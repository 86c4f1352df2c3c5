"""Is everything that the tests hold an answer against said in the instruction, and does the oracle do what is said?

An answer is computed, so the oracle does not have it as a constant. What stands as a constant both in the checks and in
the oracle is a demand, and the instruction has to state it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property

from envs_forge.bundle.model import Bundle, Part
from envs_forge.synthesis.audit.literals import Literals, literals_of, numbers_in, paths_of, plain_number
from envs_forge.synthesis.audit.model import AuditCode, Finding
from envs_forge.synthesis.audit.parts import files_of, texts_of

_HARNESS = ("/tests", "/logs", "/tmp", "/solution", "/dev", "/proc", "/sys", "/usr", "/bin", "/sbin", "/lib", "/run")
_TICKED = re.compile(r"`([^`\n]+)`")
_SMALL = {"0", "1", "2", "-1", "100", "600", "640", "644", "700", "750", "755", "775"}
"""Numbers that mean nothing: beginnings, and the usual permissions."""
_TELLING = re.compile(r"[\w./@%:+-]{3,60}")
_NUMBER_WORDS = {
    "three": "3",
    "four": "4",
    "five": "5",
    "six": "6",
    "seven": "7",
    "eight": "8",
    "nine": "9",
    "ten": "10",
}
_NUMBER_WORDS |= {"eleven": "11", "twelve": "12", "twenty": "20", "thirty": "30", "fifty": "50", "thousand": "1000"}
_ROOTS = {"app", "opt", "srv", "var", "home", "etc", "data", "root", "mnt", "workspace", "work"}
_FIELDS = re.compile(r"[,;|\t=:]")
_DATE = re.compile(r"\d{4}-\d\d-\d\d\S*|\b\d\d:\d\d(?::\d\d)?\b")
_ITEM = re.compile(r"^\s*\d+[.)]\s", re.M)
_MOST = 6
_EXCHANGED = 2
"""More values than this that do not meet are examples on one side and technicalities on the other."""


class Statements:
    """What a bundle's instruction states, and the constants of its solution and tests. Read once for all checks."""

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self.instruction = bundle.instruction

    @cached_property
    def solution(self) -> Literals:
        """Constants of the oracle."""
        return literals_of(self.bundle, Part.SOLUTION)

    @cached_property
    def tests(self) -> Literals:
        """Constants of the checks and of their data."""
        return literals_of(self.bundle, Part.TESTS)

    @cached_property
    def solution_text(self) -> str:
        """All of the oracle."""
        return "\n".join(texts_of(self.bundle, Part.SOLUTION).values())

    @cached_property
    def tests_text(self) -> str:
        """All of the checks."""
        return "\n".join(texts_of(self.bundle, Part.TESTS).values())

    @cached_property
    def environment(self) -> str:
        """All texts and names of files that the agent finds."""
        parts = [*texts_of(self.bundle, Part.DATA).items(), *texts_of(self.bundle, Part.IMAGE).items()]
        return "\n".join(f"{path}\n{text}" for path, text in parts)

    @cached_property
    def numbers(self) -> set[str]:
        """Numbers that the instruction states, in digits or in words."""
        return self.free_numbers | _digits(_unlisted(self.instruction))

    @cached_property
    def free_numbers(self) -> set[str]:
        """Those of them that stand alone, not in a date, a path or a name."""
        words = re.findall(r"[a-z]+", self.instruction.lower())
        found = {_NUMBER_WORDS[word] for word in words if word in _NUMBER_WORDS}
        return found | numbers_in(_unlisted(self.instruction))

    @cached_property
    def environment_words(self) -> set[str]:
        """Words of what the agent finds."""
        return set(_TELLING.findall(self.environment)) | set(re.findall(r"\w+", self.environment))

    def says(self, word: str) -> bool:
        """Whether the instruction has this word, whatever its case."""
        return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", self.instruction, re.IGNORECASE) is not None


def unstated_paths(what: Statements) -> Iterator[Finding]:
    """Paths that tests look at and that neither the instruction nor the environment speaks of."""
    said = paths_of(what.instruction)
    given = {path.removeprefix("environment/") for path in files_of(what.bundle, Part.DATA)}
    roots = _ROOTS | {path.split("/")[1] for path in said}
    found = {path for path in what.tests.paths if path.split("/")[1] in roots}
    missing = [path for path in sorted(found) if not _is_stated(path, said, given, what)]
    if missing:
        evidence = f"tests look at {_listed(missing)}, which the instruction does not name"
        yield Finding(AuditCode.UNSTATED_PATH, evidence, "instruction.md")


def _is_stated(path: str, said: set[str], given: set[str], what: Statements) -> bool:
    """Whether a path is no demand, or one that the agent can know of."""
    name = path.rsplit("/", 1)[-1]
    if f"{path}/".startswith(tuple(f"{place}/" for place in _HARNESS)) or path.count("/") < 2 or "*" in path:
        return True
    if name not in what.solution_text:
        return True
    if path in said or any(other.startswith(f"{path}/") for other in said) or what.says(name):
        return True
    return path in what.environment or any(f"/{file}".endswith(f"/{name}") for file in given)


def unstated_keys(what: Statements) -> Iterator[Finding]:
    """Keys that tests read from an answer and that only the oracle knows."""
    written = what.solution.texts | what.solution.keys
    missing = [
        key
        for key in sorted(what.tests.keys & written)
        if _TELLING.fullmatch(key) and not what.says(key) and key not in what.environment_words
    ]
    if missing:
        evidence = (
            f"tests read the keys {_listed(missing)}, which the solution writes and the instruction does not name"
        )
        yield Finding(AuditCode.UNSTATED_KEY, evidence, "instruction.md")


def unstated_numbers(what: Statements) -> Iterator[Finding]:
    """Numbers that tests compare with, that the oracle has as constants, and that the instruction does not state."""
    shared = (what.tests.compared & what.solution.numbers) - what.numbers - _SMALL
    if shared:
        evidence = f"tests and solution use {_listed(sorted(shared))}, which the instruction does not state"
        yield Finding(AuditCode.UNSTATED_NUMBER, evidence, "instruction.md")


def mismatched(what: Statements, parent: Statements) -> Iterator[Finding]:
    """The instruction names one thing and the oracle uses another in its place.

    That is, one or two values in the instruction's backticks, or numbers of it, do not occur in the solution, while the
    solution has one or two constants of the same kind that the instruction does not state, other than those that the
    seed's does not state either. Values have to occur in the data: what is exchanged is one label for another.
    """
    for kind, (idle, silent) in (("value", _values(what, parent)), ("number", _numbers(what, parent))):
        if 1 <= len(idle) <= _EXCHANGED and 1 <= len(silent) <= _EXCHANGED:
            evidence = (
                f"the instruction states the {kind} {_listed(idle)}, which the solution does not use; the solution"
                f" uses {_listed(silent)}, which the instruction does not state"
            )
            yield Finding(AuditCode.PARAMETER_MISMATCH, evidence, "instruction.md")


def _values(what: Statements, parent: Statements) -> tuple[list[str], list[str]]:
    ticked = {text for text in _TICKED.findall(what.instruction) if _TELLING.fullmatch(text) and "/" not in text}
    idle = sorted(t for t in ticked & what.environment_words if t not in what.solution_text and not t.isdigit())
    technical = {text for text in parent.solution.texts if not parent.says(text)}
    texts = {text for text in what.solution.texts - technical if _TELLING.fullmatch(text)}
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


def _numbers(what: Statements, parent: Statements) -> tuple[list[str], list[str]]:
    used = set(re.findall(r"\d+", what.solution_text))
    text = _unlisted(what.instruction)
    free = {number for number in numbers_in(text) - _SMALL if number.isdigit()}
    idle = sorted(n for n in free if not used & {n, str(int(n) - 1), str(int(n) + 1)})
    # Digits of dates and times state nothing, those of other names might.
    said = what.free_numbers | _digits(_DATE.sub("", text))
    silent = what.solution.numbers - (parent.solution.numbers - parent.numbers) - _SMALL - said
    return idle, sorted(n for n in silent if n.isdigit() and not said & {str(int(n) - 1), str(int(n) + 1)})


def _digits(text: str) -> set[str]:
    return {plain_number(match) for match in re.findall(r"\d+(?:\.\d+)?", text)}


def _unlisted(text: str) -> str:
    """A text without the numbers of its list items."""
    return _ITEM.sub("", text)


def _listed(values: Iterable[str]) -> str:
    shown = list(values)
    more = f" and {len(shown) - _MOST} more" if len(shown) > _MOST else ""
    return ", ".join(f"`{value}`" for value in shown[:_MOST]) + more
