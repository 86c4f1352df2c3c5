"""Seeds with names, for tests of the level that people see."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np

from envs_forge.plan.model import ACTIONS, CandidateSkills, SeedInput
from envs_forge.plan.settings import PlanSettings, Scoring

NAMES = tuple(str(action) for action in ACTIONS)
NONE = CandidateSkills()


def seed(
    id_: str,
    k: float,
    n: int,
    skills: Mapping[str, CandidateSkills] | None = None,
    ineligible: Mapping[str, str] | None = None,
) -> SeedInput:
    """A seed; without `skills` all six actions apply and use none."""
    own = dict.fromkeys(NAMES, NONE) if skills is None else skills
    digest = hashlib.sha256(id_.encode()).hexdigest()
    return SeedInput(id=id_, content_hash=digest, k=k, n=n, skills=own, ineligible=ineligible or {})


def everywhere(required: Sequence[str] = (), optional: Sequence[str] = ()) -> dict[str, CandidateSkills]:
    """The same skills for each of the six candidates."""
    return dict.fromkeys(NAMES, CandidateSkills(required=tuple(required), optional=tuple(optional)))


def plug_in(**more: object) -> PlanSettings:
    """Settings that score as the publication does."""
    return PlanSettings.model_validate({"scoring": Scoring.PLUG_IN, **more})


def pool(count: int, skills: int, number: int = 0, *, n: int = 8) -> list[SeedInput]:
    """Random seeds: a third at 0 or 1, every candidate with two required and two optional skills."""
    rng = np.random.default_rng(number)
    names = np.array([f"s/{index:02d}" for index in range(skills)])
    hits = rng.integers(0, n + 1, count)
    hits[: count // 3] = rng.choice([0, n], count // 3)
    seeds = []
    for index in range(count):
        drawn = {name: rng.permutation(skills)[:4] for name in NAMES}
        own = {
            name: CandidateSkills(required=tuple(names[d[:2]].tolist()), optional=tuple(names[d[2:]].tolist()))
            for name, d in drawn.items()
        }
        seeds.append(seed(f"seed-{index}", float(hits[index]), n, own))
    return seeds
