"""One change to one file of a solution."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from envs_forge.bundle.model import Bundle


class Operator(StrEnum):
    """What kind of piece is changed."""

    DROP_COMMAND = "drop-command"
    DROP_FILTER = "drop-filter"
    DROP_LINE = "drop-line"
    COMPARISON = "comparison"
    CONSTANT = "constant"
    TEXT = "text"
    ORDER = "order"
    REDIRECT = "redirect"


@dataclass(frozen=True, slots=True)
class Mutation:
    """Bytes `start` to `end` of a file become `new`.

    Attributes:
        operator: What kind of change.
        start: First byte.
        end: The byte behind the last.
        new: What stands there instead.
        file: Path in the bundle.
        line: Line of the change, from 1.
        old: What stood there.
    """

    operator: Operator
    start: int
    end: int
    new: bytes
    file: str = ""
    line: int = 0
    old: bytes = b""

    def __str__(self) -> str:
        old, new = (_short(text) for text in (self.old, self.new))
        return f"{self.file}:{self.line}: {self.operator}: {old!r} → {new!r}"

    def placed(self, file: str, data: bytes) -> Mutation:
        """The same change with its place in a file filled in."""
        line = data.count(b"\n", 0, self.start) + 1
        old = data[self.start : self.end]
        return Mutation(self.operator, self.start, self.end, self.new, file, line, old)

    def shifted(self, offset: int) -> Mutation:
        """The same change in a text that starts `offset` bytes later."""
        return Mutation(self.operator, self.start + offset, self.end + offset, self.new)

    def apply(self, bundle: Bundle) -> Bundle:
        """The bundle with the changed solution."""
        file = bundle.files[self.file]
        data = file.data[: self.start] + self.new + file.data[self.end :]
        return bundle.model_copy(update={"files": {**bundle.files, self.file: file.model_copy(update={"data": data})}})


def _short(text: bytes) -> str:
    line = text.decode("utf-8", errors="replace")
    return line if len(line) <= 80 else f"{line[:60]} … {line[-15:]}"
