"""Take the last lines of a text."""

from __future__ import annotations

from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.synthesis.procedural.operation import Knobs, Params, Paths
from envs_forge.synthesis.procedural.plain import PlainLines
from envs_forge.synthesis.procedural.values.lines import Lines


class LastLines(PlainLines):
    """lines → lines."""

    id = "last_lines"
    title = "last lines"
    skills = ("domain/text", "artifact/text-file", "operation/select-lines")
    stems = ("end", "bottom", "newest")
    slips = ("first", "one_more")
    said = (
        "Write the last {count} lines of the text file {source} to {target}.",
        "Copy only the last {count} lines of the text file {source} into {target}.",
        "Take the text file {source} and save its last {count} lines as {target}.",
    )

    def draw(self, dice: Dice, value: Lines, knobs: Knobs) -> Params | None:
        """How many: at least two, and not nearly all."""
        return {"count": dice.between(2, len(value.lines) - 2)} if len(value.lines) >= 4 else None

    def apply(self, value: Lines, params: Params, knobs: Knobs, slip: str = "") -> Lines:
        """The last ones."""
        count = params["count"] + (slip == "one_more")
        return Lines(value.lines[:count] if slip == "first" else value.lines[-count:])

    def solve(self, params: Params, knobs: Knobs, paths: Paths) -> str:
        """Tail."""
        return f"tail -n {params['count']} {paths.source} > {paths.target}"


OPERATION = LastLines()
