"""What the builtin policy sees of an instruction: clauses, their words, and what stands in backticks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"'(])")
QUOTE = re.compile(r"`([^`]+)`")
WORD = re.compile(r"[a-z]+(?:-[a-z]+)*")
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w])")
FILE_NAME = re.compile(r"[\w-]+\.[a-z][a-z0-9]{0,4}")
ARTICLES = frozenset({"the", "a", "an"})
STOP = ARTICLES | {"and", "be", "for", "in", "is", "it", "of", "on", "that", "to", "with", "are", "its", "they", "them"}
WRITES = frozenset({"to", "into", "as", "named", "called", "write", "make", "produce", "create", "fill", "at"})
READS = frozenset({"of", "from", "in", "directory", "folder", "file", "read", "archive", "repository", "database"})
IS_TARGET = frozenset({"must", "should", "is", "has", "gets", "needs", "shall", "will"})


@dataclass(frozen=True, slots=True)
class Quote:
    """Something in backticks, with the words around it (articles left out, nearest first)."""

    text: str
    before: tuple[str, ...]
    after: tuple[str, ...]

    @property
    def is_path(self) -> bool:
        """Whether it names a file or directory."""
        return ("/" in self.text and " /" not in self.text) or FILE_NAME.fullmatch(self.text) is not None


@dataclass(frozen=True, slots=True)
class Clause:
    """One sentence of the instruction."""

    text: str
    words: tuple[str, ...]
    """Different lower-case words outside backticks, sorted, without the commonest."""
    quotes: tuple[Quote, ...]
    numbers: tuple[str, ...]
    """Numbers outside backticks."""

    @property
    def paths(self) -> list[Quote]:
        """What names files or directories."""
        return [quote for quote in self.quotes if quote.is_path]

    @property
    def names(self) -> list[Quote]:
        """What stands in backticks and is no path."""
        return [quote for quote in self.quotes if not quote.is_path]

    def name(self, *, after: Iterable[str] = (), before: Iterable[str] = ()) -> str | None:
        """The first name right after one of the words `after` or right before one of `before`."""
        for quote in self.names:
            if {*quote.before[:1]} & {*after} or {*quote.after[:1]} & {*before}:
                return quote.text
        return None

    def target(self) -> str | None:
        """The path that is to be written, as far as the words around it tell."""
        ranked = sorted(self.paths, key=_writing, reverse=True)
        return ranked[0].text if ranked and _writing(ranked[0]) > 0 else None

    def ends(self, previous: str | None) -> tuple[str, str] | None:
        """Source and target of a step; the source may be left out when a step before wrote something."""
        source, target = next(iter(self.sources()), previous), self.target()
        return (source, target) if source and target else None

    def sources(self) -> list[str]:
        """The other paths, in order."""
        target = self.target()
        return [quote.text for quote in self.paths if quote.text != target]


def _writing(quote: Quote) -> int:
    near = quote.before[:1]
    score = 2 if not near or near[0] in WRITES else (-2 if near[0] in READS else 0)
    return score + (2 if quote.after[:1] and quote.after[0] in IS_TARGET else 0)


def read_clauses(instruction: str) -> list[Clause]:
    """All sentences but headings and code blocks, in order."""
    return [clause_of(sentence) for block in _blocks(instruction) for sentence in _sentences(block)]


def clause_of(text: str) -> Clause:
    """One sentence as the policy sees it."""
    masked = QUOTE.sub(" ` ", text)
    words = sorted({word for word in WORD.findall(masked.lower()) if word not in STOP})
    return Clause(text, tuple(words), tuple(_quotes(text)), tuple(NUMBER.findall(masked)))


def _quotes(text: str) -> Iterator[Quote]:
    for match in QUOTE.finditer(text):
        before = _near(text[: match.start()])[::-1]
        yield Quote(match[1], tuple(before[:3]), tuple(_near(text[match.end() :])[:3]))


def _near(text: str) -> list[str]:
    words = WORD.findall(QUOTE.sub(" ", text).lower())
    return [word for word in words if word not in ARTICLES]


def _blocks(instruction: str) -> Iterator[str]:
    block: list[str] = []
    for line in re.sub(r"```.*?```", "", instruction, flags=re.DOTALL).split("\n"):
        starts = ITEM.match(line) is not None
        if (starts or not line.strip() or line.startswith("#")) and block:
            yield " ".join(block)
            block = []
        if line.strip() and not line.startswith("#"):
            block.append(ITEM.sub("", line).strip())
    if block:
        yield " ".join(block)


def _sentences(block: str) -> list[str]:
    """Split at full stops, but never within backticks."""
    hidden = QUOTE.sub(lambda m: "`" + "x" * len(m[1]) + "`", block)
    cuts = [0, *(m.end() for m in SENTENCE.finditer(hidden)), len(block)]
    return [block[a:b].strip() for a, b in pairwise(cuts) if block[a:b].strip()]
