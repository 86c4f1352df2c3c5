"""Print a bundle of one or several operations, to be looked at: `python -m envs_forge.synthesis.procedural.show`."""

from __future__ import annotations

import argparse
import sys
from itertools import groupby

from envs_forge.synthesis.procedural.build import NoDataError
from envs_forge.synthesis.procedural.composition import Composition, Use
from envs_forge.synthesis.procedural.operations import operations
from envs_forge.synthesis.procedural.render import render
from envs_forge.synthesis.procedural.scenario import scenario_ids


def main(arguments: list[str]) -> int:
    """Print every file but the checking program. Words are operations, each followed by its knobs."""
    parser = argparse.ArgumentParser(prog="show", description=__doc__)
    parser.add_argument("words", nargs="+", help="operation, then its knobs, then the next operation …")
    parser.add_argument("--number", type=int, default=0)
    parser.add_argument("--scenario", default=scenario_ids()[0], choices=scenario_ids())
    parser.add_argument("--size", type=int, default=1)
    asked = parser.parse_args(arguments)
    try:
        composition = Composition(
            scenario=asked.scenario, number=asked.number, size=asked.size, uses=_uses(asked.words)
        )
        bundle = render(composition)
    except NoDataError as error:
        print(error, file=sys.stderr)
        return 1
    for path, file in bundle.files.items():
        if path not in ("tests/check.py", "tests/test.sh"):
            text = f"-> {file.target}\n" if file.target else file.data.decode(errors="replace")
            print(f"=== {path} {file.mode:o}\n{text}")
    return 0


def _uses(words: list[str]) -> tuple[Use, ...]:
    starts = [word in operations() for word in words]
    places = [sum(starts[: i + 1]) for i in range(len(words))]
    groups = [[word for _, word in group] for _, group in groupby(zip(places, words, strict=True), key=lambda p: p[0])]
    return tuple(Use(operation=group[0], knobs=tuple(sorted(group[1:]))) for group in groups)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
