"""Lines of a text file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from envs_forge.bundle.model import BundleFile
from envs_forge.synthesis.procedural.values.base import Value


@dataclass(frozen=True, slots=True)
class Lines(Value):
    """Text lines without their ends. An answer may or may not end its last line."""

    reader = "lines"
    suffix = ".txt"
    source = "lines"

    lines: tuple[str, ...]
    newline: str = "\n"
    final_newline: bool = True

    def files(self, path: str) -> Mapping[str, BundleFile]:
        """One text file."""
        text = self.newline.join(self.lines) + (self.newline if self.final_newline and self.lines else "")
        return {path: BundleFile(data=text.encode())}

    def canon(self) -> list[str]:
        """The lines themselves."""
        return list(self.lines)


class OneLine(Lines):
    """A text of one line, on which no operation works."""
