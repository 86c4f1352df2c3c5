"""What is left to decide once fixed choices are taken off: seeds, settings and what was accepted become a `Problem`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from envs_forge.errors import UserError
from envs_forge.plan.inputs import Tables, listing, tabulate, used_skills
from envs_forge.plan.model import Choice, Forbidden, SeedInput
from envs_forge.plan.problem import Ints, Problem
from envs_forge.plan.quotas import refuse_unknown, resolve_quotas
from envs_forge.plan.settings import PlanSettings


@dataclass(frozen=True)
class Task:
    """The problem and what it came from.

    Attributes:
        settings: What is wanted.
        tables: The seeds as arrays.
        fixed: Choices that were accepted already.
        asked: Uses wanted by skill, before the fixed choices were taken off.
        capacity: Most draws of one seed, fixed ones included.
        problem: What is left to decide.
    """

    settings: PlanSettings
    tables: Tables
    fixed: tuple[Choice, ...]
    asked: Mapping[str, int]
    capacity: int
    problem: Problem


def prepare(
    seeds: Sequence[SeedInput], settings: PlanSettings, fixed: tuple[Choice, ...], forbidden: tuple[Forbidden, ...]
) -> Task:
    """Check everything and build the problem.

    Raises:
        UserError: Seeds, quotas, fixed or forbidden choices that make no sense; names them.
    """
    named = settings.quotas if not isinstance(settings.quotas, str) else {}
    refuse_unknown(named, seeds)
    tables = tabulate(seeds, settings, forbidden=forbidden, quota_skills=named)
    _check_fixed(fixed, tables, settings)
    asked = resolve_quotas(settings, tables)
    drawn = _drawn(fixed, tables)
    capacity = settings.capacity or _default_capacity(tables, drawn, settings.size - len(fixed))
    done = used_skills(fixed)
    limits = None
    if settings.slack_cap is not None:
        limits = np.array([np.floor(settings.slack_cap * asked.get(s, 0) + 1e-9) for s in tables.skills])
    problem = Problem(
        scores=tables.scores,
        allowed=tables.allowed,
        required=tables.required,
        optional=tables.optional,
        quotas=np.array([max(0, asked.get(s, 0) - done[s]) for s in tables.skills], dtype=np.int64),
        size=settings.size - len(fixed),
        capacity=np.maximum(capacity - drawn, 0),
        epsilon=settings.epsilon,
        penalty=settings.penalty,
        slack_limit=limits,
        keys=tables.keys,
        skill_keys=tables.skill_keys,
    )
    return Task(settings, tables, fixed, asked, capacity, problem)


def _check_fixed(fixed: tuple[Choice, ...], tables: Tables, settings: PlanSettings) -> None:
    hashes = {seed.id: seed.content_hash for seed in tables.seeds}
    strange = [choice.seed_id for choice in fixed if choice.seed_id not in hashes]
    if strange:
        raise UserError(f"fixed choices of seeds that are not in the pool: {listing(strange)}")
    changed = [choice.seed_id for choice in fixed if choice.seed_hash != hashes[choice.seed_id]]
    if changed:
        raise UserError(f"the content of seeds with fixed choices has changed: {listing(changed)}")
    if len(fixed) > settings.size:
        raise UserError(f"{len(fixed)} choices are fixed, more than the {settings.size} that the plan may have")
    counts = Counter(choice.seed_id for choice in fixed)
    over = [id_ for id_, count in counts.items() if settings.capacity is not None and count > settings.capacity]
    if over:
        raise UserError(f"more fixed choices than the capacity of {settings.capacity} allows for {listing(over)}")


def _drawn(fixed: tuple[Choice, ...], tables: Tables) -> Ints:
    counts = Counter(choice.seed_id for choice in fixed)
    return np.array([counts[seed.id] for seed in tables.seeds], dtype=np.int64)


def _default_capacity(tables: Tables, drawn: Ints, size: int) -> int:
    """The least capacity that leaves enough room: 1, or ⌈N / eligible⌉ when nothing is fixed."""
    eligible = tables.allowed.any(axis=1)
    if not eligible.any():
        return 1
    capacity = max(1, -(-size // int(eligible.sum())))
    while int(np.maximum(capacity - drawn[eligible], 0).sum()) < size:
        capacity += 1
    return capacity
