"""Take the lines of a text that contain a word."""

from __future__ import annotations

import re
import shlex

from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.synthesis.procedural.operation import Knob, Knobs, Params, Paths
from envs_forge.synthesis.procedural.plain import PlainLines
from envs_forge.synthesis.procedural.values.lines import Lines


class MatchLines(PlainLines):
    """lines → lines."""

    id = "match_lines"
    title = "lines with a word"
    skills = ("domain/text", "artifact/text-file", "tool/grep", "operation/select-lines")
    stems = ("found", "matches", "hits")
    slips = ("inverted", "first_only")
    said = (
        "Write the lines of the text file {source} that contain `{word}` to {target}.",
        "Find all lines containing `{word}` in the text file {source} and write them to {target}.",
        "Search the text file {source} for `{word}` and write the lines that have it to {target}.",
    )
    knobs = (
        Knob(
            "ignore_case",
            "constraint/case-insensitive",
            (
                "Upper and lower case make no difference to the search.",
                "Ignore upper and lower case when you search.",
                "The search is case-insensitive.",
            ),
            features=("case",),
        ),
    )

    def draw(self, dice: Dice, value: Lines, knobs: Knobs) -> Params | None:
        """A word that several lines have, and not all."""
        words = sorted({word for line in value.lines for word in re.findall(r"[a-z]{3,}", line)})
        words = [word for word in words if 1 < sum(word in line for line in value.lines) < len(value.lines)]
        return {"word": dice.pick(words)} if words else None

    def apply(self, value: Lines, params: Params, knobs: Knobs, slip: str = "") -> Lines:
        """The lines that have it."""
        fold = str.lower if "ignore_case" in knobs else str
        hits = [line for line in value.lines if (params["word"] in fold(line)) != (slip == "inverted")]
        return Lines(tuple(hits[:1] if slip == "first_only" else hits))

    def solve(self, params: Params, knobs: Knobs, paths: Paths) -> str:
        """Grep."""
        flag = "-i " if "ignore_case" in knobs else ""
        return f"grep {flag}-F -e {shlex.quote(params['word'])} {paths.source} > {paths.target}"


OPERATION = MatchLines()
