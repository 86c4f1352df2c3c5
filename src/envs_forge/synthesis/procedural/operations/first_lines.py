"""Take the first lines of a text."""

from __future__ import annotations

from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.synthesis.procedural.operation import Knobs, Params, Paths
from envs_forge.synthesis.procedural.plain import PlainLines
from envs_forge.synthesis.procedural.values.lines import Lines


class FirstLines(PlainLines):
    """lines → lines."""

    id = "first_lines"
    title = "first lines"
    skills = ("domain/text", "artifact/text-file", "operation/select-lines")
    stems = ("top", "beginning", "start")
    slips = ("last", "one_more")
    said = (
        "Write the first {count} lines of the text file {source} to {target}.",
        "Copy only the first {count} lines of the text file {source} into {target}.",
        "Take the text file {source} and save its first {count} lines as {target}.",
    )

    def draw(self, dice: Dice, value: Lines, knobs: Knobs) -> Params | None:
        """How many: at least two, and not nearly all."""
        return {"count": dice.between(2, len(value.lines) - 2)} if len(value.lines) >= 4 else None

    def apply(self, value: Lines, params: Params, knobs: Knobs, slip: str = "") -> Lines:
        """The first ones."""
        count = params["count"] + (slip == "one_more")
        return Lines(value.lines[-count:] if slip == "last" else value.lines[:count])

    def solve(self, params: Params, knobs: Knobs, paths: Paths) -> str:
        """Head."""
        return f"head -n {params['count']} {paths.source} > {paths.target}"


OPERATION = FirstLines()
