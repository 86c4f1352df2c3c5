"""The seeds that a study's pools are taken from, and the held-out tasks: made, not collected.

Both come from the procedural generator under different labels, so their seed numbers differ; a held-out task whose
chain of operations and constraints is that of a seed is made anew, and a candidate whose chain is that of a held-out
task is refused. The held-out mix is harder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count

from envs_forge.bundle.model import Bundle
from envs_forge.errors import InvariantError
from envs_forge.synthesis.procedural.composition import read_composition
from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.synthesis.procedural.edits.moves import Uses
from envs_forge.synthesis.procedural.pool import SHAPES, Shape, shaped_bundle

HELD_OUT_SHAPES: Mapping[Shape, int] = {
    (1, 2): 2,
    (2, 1): 3,
    (1, 3): 2,
    (2, 2): 4,
    (3, 1): 2,
    (2, 3): 3,
    (3, 2): 3,
    (2, 4): 1,
    (3, 3): 2,
    (3, 4): 1,
    (4, 4): 1,
}
"""(steps, constraints) → their share. The seeds' shares are those of the bundled pool."""
TRIES = 20

Accept = Callable[[Bundle], Bundle | None]
"""The bundle as verification leaves it, or None where it is not sound."""


def make_seeds(wanted: int, seed: int, accept: Accept) -> list[Bundle]:
    """Seeds in the mix of the bundled pool; a chain may come several times, with other data and in another story.

    Args:
        wanted: How many.
        seed: The study's number.
        accept: Gold verification.
    """
    return [bundle for _, bundle in zip(range(wanted), _made(SHAPES, f"study/{seed}/seeds", accept), strict=False)]


def make_held_out(wanted: int, seed: int, accept: Accept, seeds: Iterable[Bundle]) -> list[Bundle]:
    """Held-out tasks: each chain once, and none that a seed has; see `make_seeds`."""
    seen = {chain_of(bundle) for bundle in seeds}

    def new(bundle: Bundle) -> Bundle | None:
        sound = accept(bundle) if chain_of(bundle) not in seen else None
        if sound is not None:
            seen.add(chain_of(sound))
        return sound

    made = _made(HELD_OUT_SHAPES, f"study/{seed}/held-out", new)
    return [bundle for _, bundle in zip(range(wanted), made, strict=False)]


def chain_of(bundle: Bundle) -> Uses:
    """The operations and constraints that a procedural bundle consists of."""
    composition = read_composition(bundle.provenance)
    if composition is None:
        raise InvariantError(f"{bundle.id} has no composition")
    return composition.uses


def _made(shapes: Mapping[Shape, int], label: str, accept: Accept) -> Iterator[Bundle]:
    """Bundles without end, their shapes as often as `shapes` says."""
    for index, shape in enumerate(_dealt(shapes, label)):
        for attempt in range(TRIES):
            sound = accept(shaped_bundle(index + attempt, shape, label=f"{label}/{index}"))
            if sound is not None:
                yield sound
                break
        else:
            raise InvariantError(f"no sound bundle of shape {shape} in {TRIES} tries")


def _dealt(shapes: Mapping[Shape, int], label: str) -> Iterator[Shape]:
    """Shapes without end, every round of them in another order."""
    once = [shape for shape, share in shapes.items() for _ in range(share)]
    for turn in count():
        yield from Dice(label, "shapes", turn).shuffled(once)
