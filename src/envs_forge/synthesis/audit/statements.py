"""What a bundle's instruction states, and the constants in its solution and its tests. Read once, for all checks."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

from envs_forge.bundle.model import Bundle, Part
from envs_forge.synthesis.audit.expectations import expectations_of
from envs_forge.synthesis.audit.literals import Literals, literals_of, numbers_in, plain_number
from envs_forge.synthesis.audit.parts import texts_of
from envs_forge.synthesis.bounded import bounded

SMALL = frozenset({"0", "1", "2", "-1", "100", "600", "640", "644", "700", "750", "755", "775"})
"""Numbers that mean nothing: beginnings, and the usual permissions."""
TELLING = re.compile(r"[\w./@%:+-]{3,60}")
"""A word long enough to be a name or a value."""
_COUNTING = ("three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_NUMBER_WORDS = {word: str(number) for number, word in enumerate(_COUNTING, 3)}
_ORDINALS = ("third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_NUMBER_WORDS |= {word: str(number) for number, word in enumerate(_ORDINALS, 3)}
_NUMBER_WORDS |= {"twenty": "20", "thirty": "30", "fifty": "50", "thousand": "1000"}
_ITEM = re.compile(r"^[ \t]*\d+[.)][ \t]", re.M)
_MOST = 6


class Statements:
    """The texts of a bundle as the checks need them, each worked out when it is first asked for."""

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self.instruction = bounded(bundle.instruction)

    @cached_property
    def solution(self) -> Literals:
        """Constants of the oracle."""
        return literals_of(self.bundle, Part.SOLUTION)

    @cached_property
    def tests(self) -> Literals:
        """Constants of the checks and of their data."""
        return literals_of(self.bundle, Part.TESTS)

    @cached_property
    def expectations(self) -> list[tuple[str, ...]]:
        """Texts that the tests expect, each as its lines."""
        return expectations_of(self.bundle)

    @cached_property
    def solution_text(self) -> str:
        """All of the oracle."""
        return "\n".join(texts_of(self.bundle, Part.SOLUTION).values())

    @cached_property
    def solution_words(self) -> set[str]:
        """Words of the oracle."""
        return set(re.findall(r"\w+", self.solution_text))

    @cached_property
    def heading_words(self) -> set[str]:
        """Words of the first lines of files of data, where tables name their columns."""
        firsts = (text.split("\n", 1)[0] for text in texts_of(self.bundle, Part.DATA).values())
        return {word for line in firsts for word in re.findall(r"\w+", line)}

    @cached_property
    def environment(self) -> str:
        """All texts and names of files that the agent finds."""
        parts = [*texts_of(self.bundle, Part.DATA).items(), *texts_of(self.bundle, Part.IMAGE).items()]
        return "\n".join(f"{path}\n{text}" for path, text in parts)

    @cached_property
    def numbers(self) -> set[str]:
        """Numbers that the instruction states, in digits or in words."""
        return self.free_numbers | digits(unlisted(self.instruction))

    @cached_property
    def free_numbers(self) -> set[str]:
        """Those of them that stand alone, not in a date, a path or a name."""
        words = re.findall(r"[a-z]+", self.instruction.lower())
        found = {_NUMBER_WORDS[word] for word in words if word in _NUMBER_WORDS}
        return found | numbers_in(unlisted(self.instruction))

    @cached_property
    def environment_words(self) -> set[str]:
        """Words of what the agent finds."""
        return set(TELLING.findall(self.environment)) | set(re.findall(r"\w+", self.environment))

    def says(self, word: str) -> bool:
        """Whether the instruction has this word, whatever its case."""
        return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", self.instruction, re.IGNORECASE) is not None


def digits(text: str) -> set[str]:
    """All numbers in a text, also those within dates, paths and names."""
    return {plain_number(match) for match in re.findall(r"\d+(?:\.\d+)?", text)}


def unlisted(text: str) -> str:
    """A text without the numbers of its list items."""
    return _ITEM.sub("", text)


def flat(text: str) -> str:
    """A text on one line, each run of white space a single space."""
    return " ".join(text.split())


def listed(values: Iterable[str]) -> str:
    """Values as evidence shows them, the first few."""
    shown = list(values)
    more = f" and {len(shown) - _MOST} more" if len(shown) > _MOST else ""
    return ", ".join(f"`{value}`" for value in shown[:_MOST]) + more
