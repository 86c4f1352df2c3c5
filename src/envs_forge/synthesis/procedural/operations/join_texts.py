"""Put one text after another."""

from __future__ import annotations

from collections.abc import Mapping

from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.synthesis.procedural.operation import Knobs, Params, Paths
from envs_forge.synthesis.procedural.plain import PlainLines
from envs_forge.synthesis.procedural.values.lines import Lines


class JoinTexts(PlainLines):
    """lines → lines."""

    id = "join_texts"
    title = "two texts joined"
    skills = ("domain/text", "artifact/text-file", "operation/join-texts")
    stems = ("joined", "combined", "both")
    slips = ("swapped", "second_left_out")
    said = (
        "Write the content of the text file {source} followed by the content of {side} to {target}.",
        "Concatenate the text file {source} and after it {side} into the new file {target}.",
        "Join two text files: first {source}, then {side}; write the result to {target}.",
    )

    def draw(self, dice: Dice, value: Lines, knobs: Knobs) -> Params | None:
        """The second text: some of the first's words under other numbers."""
        words = sorted({line.split(" ")[0] for line in value.lines} - {""})
        return {"second": [f"{dice.pick(words)} {dice.between(10, 9999)}" for _ in range(dice.between(3, 6))]}

    def apply(self, value: Lines, params: Params, knobs: Knobs, slip: str = "") -> Lines:
        """First and second."""
        parts = [value.lines, tuple(params["second"])]
        if slip == "second_left_out":
            parts.pop()
        return Lines(sum(reversed(parts) if slip == "swapped" else parts, start=()))

    def side(self, params: Params) -> Lines:
        """The second text."""
        return Lines(tuple(params["second"]))

    def slots(self, params: Params) -> Mapping[str, str]:
        """None: both texts are files."""
        return {}

    def solve(self, params: Params, knobs: Knobs, paths: Paths) -> str:
        """Cat."""
        return f"cat {paths.source} {paths.side} > {paths.target}"


OPERATION = JoinTexts()
