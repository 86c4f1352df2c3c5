"""Children of the bundled seeds, made by the procedural generator."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from envs_forge.bundle.hashing import content_hash
from envs_forge.bundle.model import Bundle
from envs_forge.bundle.reading import read_bundle
from envs_forge.plan.model import ACTIONS, Action, CandidateSkills
from envs_forge.synthesis.generator import Assignment, Candidate
from envs_forge.synthesis.overlap.corpus import Corpus
from envs_forge.synthesis.procedural.generator import ProceduralGenerator

POOL = Path(__file__).parents[3] / "seeds"
BY_NAME = {str(action): action for action in ACTIONS}


NEAR = (3, 19, 28, 43, 49)
"""Seeds of the small corpus."""


@cache
def seeds() -> tuple[Bundle, ...]:
    return tuple(read_bundle(path) for path in sorted(POOL.iterdir()) if path.is_dir())


def seed(number: int) -> Bundle:
    return next(bundle for bundle in seeds() if bundle.id.startswith(f"{number:02d}-"))


def corpus() -> Corpus:
    """Of a few seeds only: the fingerprints of all take a second or two."""
    return Corpus([seed(number) for number in NEAR])


def assignment(parent: Bundle, action: Action | str, *, required: tuple[str, ...] = (), slot: int = 0) -> Assignment:
    return Assignment(
        slot=slot,
        draw=0,
        seed_id=parent.id,
        seed_hash=content_hash(parent),
        action=BY_NAME[str(action)],
        recipe="forge",
        pass_rate=0.5,
        k=2,
        n=4,
        predicted=0.5,
        frontier_score=1.0,
        required=required,
    )


def child(parent: Bundle, action: Action | str, *, slot: int = 0) -> tuple[Bundle, Assignment] | None:
    """A child and what was asked for; None where the action does not apply or no data fits."""
    return _child(int(parent.id[:2]), str(action), slot)


@cache
def _child(number: int, action: str, slot: int) -> tuple[Bundle, Assignment] | None:
    parent, generator = seed(number), ProceduralGenerator(seed=6)
    option = generator.options(parent)[action]
    if not isinstance(option, CandidateSkills):
        return None
    asked = assignment(parent, action, required=option.required, slot=slot)
    made = generator.generate(asked, parent)
    return (made.bundle, asked) if isinstance(made, Candidate) else None


def children(numbers: Iterable[int]) -> Iterator[tuple[Bundle, Bundle, Assignment]]:
    """Parents, children and assignments of all six actions."""
    for parent in (seed(number) for number in numbers):
        for action in ACTIONS:
            made = child(parent, action)
            if made is not None:
                yield parent, *made
