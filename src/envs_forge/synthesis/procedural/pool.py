"""The bundled seed pool: `python -m envs_forge.synthesis.procedural.pool --output seeds`.

Its shapes are fixed, from one bare step to four steps under six constraints, and every operation leads some of the
chains. Behind them come tasks of one everyday command. Nothing here knows a policy: how hard a shape is for one shows
when it is measured.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from envs_forge.bundle import Bundle, write_bundle
from envs_forge.synthesis.procedural.build import NoDataError
from envs_forge.synthesis.procedural.composition import Composition, Use
from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.synthesis.procedural.edits.moves import Edit, Uses, added_knobs, added_operations, sound
from envs_forge.synthesis.procedural.operation import Operation
from envs_forge.synthesis.procedural.operations import operations
from envs_forge.synthesis.procedural.render import render
from envs_forge.synthesis.procedural.scenario import scenario_ids

Shape = tuple[int, int]
SHAPES: dict[Shape, int] = {
    (1, 0): 12,
    (1, 1): 8,
    (2, 0): 4,
    (1, 2): 4,
    (2, 1): 6,
    (2, 2): 5,
    (1, 3): 2,
    (3, 1): 2,
    (2, 3): 3,
    (3, 2): 2,
    (3, 3): 3,
    (2, 4): 1,
    (3, 4): 2,
    (4, 4): 2,
    (4, 5): 1,
    (3, 6): 1,
    (4, 6): 2,
}
"""(steps, constraints) → how many bundles."""
PLAIN = (
    "count_lines",
    "copy_directory",
    "append_line",
    "sort_lines",
    "rename_file",
    "match_lines",
    "first_lines",
    "delete_file",
    "join_texts",
    "make_executable",
    "last_lines",
    "move_file",
)
"""One task each of a single everyday command, behind all others: small models pass some of them."""
TRIES = 400
PER_LEADER = 8
"""After so many tries in vain the next operation leads the chain."""


def pool() -> Iterator[Bundle]:
    """All bundles in the order of their names; both halves of those before the plain ones are equally mixed."""
    shapes = sorted((shape for shape, count in SHAPES.items() for _ in range(count)), key=sum)
    dealt = [*Dice("pool", 1).shuffled(shapes[::2]), *Dice("pool", 2).shuffled(shapes[1::2])]
    for index, shape in enumerate(dealt):
        yield shaped_bundle(index, shape)
    for index, name in enumerate(PLAIN, len(dealt)):
        yield _plain(index, name)


def shaped_bundle(index: int, shape: Shape, *, label: str = "pool") -> Bundle:
    """A bundle with so many steps and constraints; another one for each index and label.

    Raises:
        NoDataError: No chain of that shape was found.
    """
    names = Dice("leaders").shuffled([operation.id for operation in _composed()])
    for attempt in range(TRIES):
        dice = Dice(label, index, attempt)
        uses = _chain(names[(index + attempt // PER_LEADER) % len(names)], shape, dice)
        if uses is None:
            continue
        composition = Composition(
            scenario=scenario_ids()[index % len(scenario_ids())],
            number=dice.between(0, 999_999),
            size=dice.pick((1, 1, 2)),
            uses=uses,
        )
        try:
            return render(composition, _name(index, composition))
        except NoDataError:
            continue
    raise NoDataError(f"bundle {index} of the pool: no chain of shape {shape}")


def _plain(index: int, name: str) -> Bundle:
    scenario = scenario_ids()[index % len(scenario_ids())]
    composition = Composition(scenario=scenario, number=index, uses=(Use(operation=name),))
    return render(composition, _name(index, composition))


def _composed() -> list[Operation]:
    """The operations that the other bundles are made of."""
    return [operation for operation in operations().values() if not operation.plain]


def _chain(leader: str, shape: Shape, dice: Dice) -> Uses | None:
    """A chain with an operation in it, grown step by step; None when it cannot grow so far."""
    uses: Uses = (Use(operation=leader),)
    steps, knobs = shape
    for _ in range(steps - 1):
        others = [operation for operation in _composed() if all(u.operation != operation.id for u in uses)]
        uses = _grown(uses, lambda u, others=others: added_operations(u, others), dice)  # type: ignore[misc]
    for _ in range(knobs):
        uses = _grown(uses, added_knobs, dice)
    return uses if (len(uses), sum(len(use.knobs) for use in uses)) == shape else None


def _grown(uses: Uses, moves: Callable[[Uses], Iterator[Edit]], dice: Dice) -> Uses:
    edits = sound(moves(uses), uses)
    return dice.pick(edits).uses if edits else uses


def _name(index: int, composition: Composition) -> str:
    """`07-audit-filter-rows-to-tally`: a number, the scenario, the first and the last operation."""
    ends = dict.fromkeys(composition.uses[at].operation.replace("_", "-") for at in (0, -1))
    return f"{index:02d}-{composition.scenario}-{'-to-'.join(ends)}"


def main(arguments: list[str]) -> int:
    """Write the pool; exit status 1 when the directory holds other tasks too."""
    parser = argparse.ArgumentParser(prog="pool", description="Make the bundled seed pool.")
    parser.add_argument("--output", type=Path, default=Path("seeds"), help="directory of the task directories")
    output: Path = parser.parse_args(arguments).output
    names = {write_bundle(bundle, output, replace=True).name for bundle in pool()}
    others = sorted(path.parent.name for path in output.glob("*/task.toml") if path.parent.name not in names)
    print(f"{len(names)} bundles in {output}")
    if others:
        print(f"not of the pool: {', '.join(others)}", file=sys.stderr)
    return 1 if others else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
