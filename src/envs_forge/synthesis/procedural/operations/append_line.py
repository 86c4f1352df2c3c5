"""Add a line to the end of a text."""

from __future__ import annotations

import shlex

from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.synthesis.procedural.operation import Knobs, Params, Paths
from envs_forge.synthesis.procedural.plain import PlainLines
from envs_forge.synthesis.procedural.values.lines import Lines


class AppendLine(PlainLines):
    """lines → lines, in place."""

    id = "append_line"
    title = "a line added"
    skills = ("domain/text", "artifact/text-file", "operation/write-text")
    stems = ("text",)
    in_place = True
    slips = ("at_the_top", "replaced")
    said = (
        "Add the line `{text}` at the end of the text file {source}.",
        "Append the line `{text}` to the text file {source}.",
        "Put one more line, `{text}`, at the end of the text file {source}.",
    )

    def draw(self, dice: Dice, value: Lines, knobs: Knobs) -> Params | None:
        """Something that is not there yet."""
        word = dice.pick(sorted({line.split(" ")[0] for line in value.lines} - {""}))
        text = f"{word} {dice.between(10, 9999)}"
        return {"text": text} if text not in value.lines else None

    def apply(self, value: Lines, params: Params, knobs: Knobs, slip: str = "") -> Lines:
        """The lines and the new one."""
        old, new = value.lines, (params["text"],)
        return Lines({"": old + new, "at_the_top": new + old, "replaced": new}[slip])

    def solve(self, params: Params, knobs: Knobs, paths: Paths) -> str:
        """Printf."""
        return f"printf '%s\\n' {shlex.quote(params['text'])} >> {paths.source}"


OPERATION = AppendLine()
