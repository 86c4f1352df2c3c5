"""Instances for the planner's benchmark: seeds with eight rollouts each, skills by popularity, quotas that bind.

An instance is a `Problem` of the planner. Of its quotas half are met by what is best anyway, most others ask for 5 to
50 % more than that, one in twenty for three times as much, and one in fifty for more than any plan can give. Skills are
drawn for each candidate, or come with one of so many *families* of seeds, as in a pool that grew from templates.

Everything is made in parts, so that an instance of a million seeds takes little more memory than its own arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from envs_forge.plan.frontier import scores
from envs_forge.plan.problem import NO_SKILL, Floats, Ints, Problem, Skills, uses
from envs_forge.plan.settings import FrontierConfig, Scoring

ACTIONS = 6
ROLLOUTS = 8
REQUIRED, OPTIONAL = 2, 3
CONSTANTS = {"steep": (0.01, 2.0), "published": (1e-6, 0.25)}
"""ε and λ by name: penalties that dwarf the scores, and the publication's."""

_PART = 200_000
_ARRAYS = ("scores", "allowed", "required", "optional", "quotas", "capacity", "keys")


@dataclass(frozen=True)
class Spec:
    """What an instance is made from; the same spec makes the same instance.

    Attributes:
        seeds: S.
        skills: V.
        size: N.
        families: Templates that the seeds come from; None: every candidate has skills of its own.
        constants: A key of `CONSTANTS`.
        number: Seed of the random numbers.
    """

    seeds: int
    skills: int
    size: int
    families: int | None = None
    constants: str = "steep"
    number: int = 0


def make(spec: Spec) -> Problem:
    """The instance."""
    rng = np.random.default_rng([spec.number, spec.seeds, spec.skills])
    hits = rng.binomial(ROLLOUTS, rng.beta(0.8, 0.8, spec.seeds)).astype(np.float64)
    value = scores(hits, np.full(spec.seeds, float(ROLLOUTS)), FrontierConfig(), Scoring.PLUG_IN)
    required, optional = _skills(rng, spec)
    epsilon, penalty = CONSTANTS[spec.constants]
    return Problem(
        scores=value,
        allowed=np.ones(value.shape, bool),
        required=required,
        optional=optional,
        quotas=_quotas(rng, spec, value, required),
        size=spec.size,
        capacity=np.ones(spec.seeds, np.int64),
        epsilon=epsilon,
        penalty=penalty,
        slack_limit=None,
        keys=rng.integers(0, 1 << 63, spec.seeds, dtype=np.uint64),
    )


def save(problem: Problem, path: Path) -> None:
    """Write an instance, uncompressed."""
    numbers = np.array([problem.size, problem.epsilon, problem.penalty])
    with path.open("wb") as file:
        np.savez(file, numbers=numbers, **{name: getattr(problem, name) for name in _ARRAYS})


def load(path: Path) -> Problem:
    """Read an instance."""
    with np.load(path) as stored:
        size, epsilon, penalty = stored["numbers"].tolist()
        arrays = {name: stored[name] for name in _ARRAYS}
    return Problem(size=int(size), epsilon=epsilon, penalty=penalty, slack_limit=None, **arrays)


def _skills(rng: np.random.Generator, spec: Spec) -> tuple[Skills, Skills]:
    width = min(REQUIRED + OPTIONAL, spec.skills)
    split = min(REQUIRED, width)
    required = np.full((spec.seeds * ACTIONS, split), NO_SKILL, np.int32)
    optional = np.full((spec.seeds * ACTIONS, width - split), NO_SKILL, np.int32)
    if width == 0:
        return required, optional
    templates = None if spec.families is None else _distinct(rng, spec.families * ACTIONS, width, spec.skills)
    for begin in range(0, spec.seeds, _PART):
        count = min(_PART, spec.seeds - begin)
        if templates is None:
            rows = _distinct(rng, count * ACTIONS, width, spec.skills)
        else:
            family = rng.integers(0, spec.families, count)
            rows = templates.reshape(-1, ACTIONS, width)[family].reshape(-1, width)
        span = slice(begin * ACTIONS, (begin + count) * ACTIONS)
        required[span], optional[span] = rows[:, :split], rows[:, split:]
    return required, optional


def _distinct(rng: np.random.Generator, rows: int, width: int, skills: int) -> Skills:
    """Rows of different skills; skill v is drawn with a weight of 1 / (v + 1)^0.7."""
    share = np.cumsum(1.0 / np.arange(1, skills + 1) ** 0.7)
    share /= share[-1]
    drawn = np.empty((rows, width), np.int32)
    open_: Ints = np.arange(rows)
    while open_.size:
        drawn[open_] = np.searchsorted(share, rng.random((open_.size, width)), side="right")
        ordered = np.sort(drawn[open_], axis=1)
        open_ = open_[(ordered[:, 1:] == ordered[:, :-1]).any(axis=1)]
    return drawn


def _quotas(rng: np.random.Generator, spec: Spec, value: Floats, required: Skills) -> Ints:
    """What the best plan without quotas uses, times a factor."""
    if spec.skills == 0:
        return np.zeros(0, np.int64)
    best = np.argsort(-value.max(axis=1), kind="stable")[: spec.size]
    natural = uses(required[best * ACTIONS + value[best].argmax(axis=1)], spec.skills)
    kind = rng.random(spec.skills)
    factor = np.select([kind < 0.5, kind < 0.95], [np.full(kind.size, 0.7), rng.uniform(1.05, 1.5, kind.size)], 3.0)
    quotas = np.ceil(natural * factor).astype(np.int64)
    quotas[rng.choice(spec.skills, max(1, spec.skills // 50), replace=False)] = spec.size + 1
    return quotas
