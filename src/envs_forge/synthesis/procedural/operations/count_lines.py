"""Count the lines of a text."""

from __future__ import annotations

from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.synthesis.procedural.operation import Knob, Knobs, Params, Paths
from envs_forge.synthesis.procedural.plain import PlainLines
from envs_forge.synthesis.procedural.values.lines import Lines, OneLine


class CountLines(PlainLines):
    """lines → lines."""

    id = "count_lines"
    title = "number of lines"
    skills = ("domain/text", "artifact/text-file", "operation/count-lines")
    stems = ("count", "number", "how-many")
    slips = ("words", "characters")
    said = (
        "Count the lines of the text file {source} and write only that number to {target}.",
        "Write the number of lines of the text file {source} to {target}, and nothing else.",
        "Find out how many lines the text file {source} has and write only that number to {target}.",
    )
    gives = OneLine
    knobs = (
        Knob(
            "blank_lines",
            "constraint/blank-lines",
            (
                "Blank lines do not count.",
                "Leave blank lines out of the count.",
                "Do not count a blank line.",
            ),
            features=("blank_lines",),
        ),
    )

    def draw(self, dice: Dice, value: Lines, knobs: Knobs) -> Params | None:
        """Nothing to choose."""
        return {}

    def apply(self, value: Lines, params: Params, knobs: Knobs, slip: str = "") -> OneLine:
        """The number."""
        lines = [line for line in value.lines if line or "blank_lines" not in knobs]
        text = "".join(f"{line}\n" for line in lines)
        counts = {"": len(lines), "words": len(text.split()), "characters": len(text.encode())}
        return OneLine((str(counts[slip]),))

    def solve(self, params: Params, knobs: Knobs, paths: Paths) -> str:
        """Wc or grep."""
        if "blank_lines" in knobs:
            return f"grep -c . {paths.source} > {paths.target}"
        return f"wc -l < {paths.source} > {paths.target}"


OPERATION = CountLines()
