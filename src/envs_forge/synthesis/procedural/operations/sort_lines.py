"""Sort the lines of a text."""

from __future__ import annotations

from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.synthesis.procedural.operation import Knobs, Params, Paths
from envs_forge.synthesis.procedural.plain import PlainLines
from envs_forge.synthesis.procedural.values.lines import Lines


class SortLines(PlainLines):
    """lines → lines."""

    id = "sort_lines"
    title = "sorted lines"
    skills = ("domain/text", "artifact/text-file", "tool/sort", "operation/sort-lines")
    stems = ("sorted", "in-order", "ordered")
    slips = ("backwards", "as_they_are")
    said = (
        "Sort the lines of the text file {source} alphabetically and write them to {target}.",
        "Write the lines of the text file {source} to {target}, sorted from a to z.",
        "Put the lines of the text file {source} in alphabetical order and write the result to {target}.",
    )

    def draw(self, dice: Dice, value: Lines, knobs: Knobs) -> Params | None:
        """Nothing to choose; every locale must give the same order."""
        return {} if sorted(value.lines) == sorted(value.lines, key=_loosely) else None

    def apply(self, value: Lines, params: Params, knobs: Knobs, slip: str = "") -> Lines:
        """The lines in order."""
        return value if slip == "as_they_are" else Lines(tuple(sorted(value.lines, reverse=slip == "backwards")))

    def solve(self, params: Params, knobs: Knobs, paths: Paths) -> str:
        """Sort."""
        return f"LC_ALL=C sort {paths.source} > {paths.target}"


def _loosely(line: str) -> tuple[str, str]:
    """How a locale compares: letters and digits first, without regard to case."""
    return "".join(letter for letter in line.lower() if letter.isalnum()), line


OPERATION = SortLines()
