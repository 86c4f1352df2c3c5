"""Seeds with names into arrays, with every mistake in them named in one line.

`Tables` keeps what is needed to translate indices back: seeds sorted by content, skills sorted by name.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from envs_forge.errors import UserError
from envs_forge.plan.frontier import scores
from envs_forge.plan.model import ACTIONS, CandidateSkills, Choice, Forbidden, SeedInput
from envs_forge.plan.problem import NO_SKILL, Bools, Floats, Ints, Keys, Skills
from envs_forge.plan.recipes import mask
from envs_forge.plan.settings import PlanSettings

NAMES_SHOWN = 5

_ACTION_NAMES = tuple(str(action) for action in ACTIONS)


@dataclass(frozen=True)
class Tables:
    """Seeds as arrays, rows in the order of `seeds`, which is that of their content.

    Attributes:
        seeds: The seeds, sorted by content hash, then id.
        skills: Names of the skills, sorted; a skill's index is its place here.
        scores: (S, A) frontier scores.
        allowed: (S, A) eligible, within the recipe, not forbidden.
        required: (S·A, r) skills, padded.
        optional: (S·A, o) skills, padded, without what is required as well.
        keys: (S,) hashes of content and id.
    """

    seeds: tuple[SeedInput, ...]
    skills: tuple[str, ...]
    scores: Floats
    allowed: Bools
    required: Skills
    optional: Skills
    keys: Keys

    @property
    def skill_keys(self) -> Keys:
        """Hashes of the skills' names (V,)."""
        return np.array([_digest(skill) for skill in self.skills], dtype=np.uint64)

    @property
    def rates(self) -> Floats:
        """Measured pass rates (S,)."""
        return np.array([seed.k / seed.n for seed in self.seeds])


def tabulate(
    seeds: Sequence[SeedInput],
    settings: PlanSettings,
    *,
    forbidden: Iterable[Forbidden] = (),
    quota_skills: Iterable[str] = (),
) -> Tables:
    """Check the seeds and turn them into arrays.

    Raises:
        UserError: Anything wrong with a seed, naming the seeds.
    """
    check_seeds(seeds)
    ordered = tuple(sorted(seeds, key=lambda seed: (seed.content_hash, seed.id)))
    skills = _skill_names(ordered, quota_skills)
    number = {skill: index for index, skill in enumerate(skills)}
    k = np.array([seed.k for seed in ordered], dtype=np.float64)
    n = np.array([seed.n for seed in ordered], dtype=np.float64)
    candidates = [seed.skills.get(name, CandidateSkills()) for seed in ordered for name in _ACTION_NAMES]
    return Tables(
        seeds=ordered,
        skills=skills,
        scores=scores(k, n, settings.frontier, settings.scoring),
        allowed=_allowed(ordered, settings, forbidden),
        required=_padded([_distinct(c.required) for c in candidates], number),
        optional=_padded([_distinct(c.optional, but=c.required) for c in candidates], number),
        keys=np.array([_key(seed) for seed in ordered], dtype=np.uint64),
    )


def check_seeds(seeds: Sequence[SeedInput]) -> None:
    """Refuse what no plan can be made from.

    Raises:
        UserError: No seeds, ids twice, no rollouts, a rate that is no number or not in [0, 1], unknown actions.
    """
    if not seeds:
        raise UserError("there are no seeds to plan with")
    counts = Counter(seed.id for seed in seeds)
    _refuse("more than one seed has the id", [id_ for id_, count in counts.items() if count > 1])
    _refuse("no counted rollouts (n = 0) for", [s.id for s in seeds if s.n <= 0], "measure them or leave them out")
    _refuse("the pass rate is not a number for", [s.id for s in seeds if not math.isfinite(s.k)])
    _refuse("the pass rate is not in [0, 1] for", [s.id for s in seeds if not 0 <= s.k <= s.n])
    for field in ("skills", "ineligible"):
        strange = [f"{s.id}: {name}" for s in seeds for name in getattr(s, field) if name not in _ACTION_NAMES]
        _refuse(f"unknown actions in `{field}` of", strange, f"the actions are {', '.join(_ACTION_NAMES)}")


def listing(names: Iterable[str]) -> str:
    """`a, b, c, d, e and 7 more`."""
    every = sorted(names)
    rest = len(every) - NAMES_SHOWN
    return ", ".join(every[:NAMES_SHOWN]) + (f" and {rest} more" if rest > 0 else "")


def _refuse(what: str, names: Sequence[str], fix: str | None = None) -> None:
    if names:
        raise UserError(f"{what} {listing(names)}", fix=fix)


def _key(seed: SeedInput) -> int:
    return _digest(f"{seed.content_hash}\0{seed.id}")


def _digest(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def _skill_names(seeds: Sequence[SeedInput], more: Iterable[str]) -> tuple[str, ...]:
    names = set(more)
    for seed in seeds:
        for candidate in seed.skills.values():
            names.update(candidate.required, candidate.optional)
    return tuple(sorted(names))


def _distinct(skills: Sequence[str], *, but: Sequence[str] = ()) -> tuple[str, ...]:
    return tuple(dict.fromkeys(skill for skill in skills if skill not in but))


def _padded(rows: Sequence[Sequence[str]], number: Mapping[str, int]) -> Skills:
    widths: Ints = np.array([len(row) for row in rows], dtype=np.int64)
    result = np.full((len(rows), int(widths.max(initial=0))), NO_SKILL, np.int32)
    flat = np.array([number[skill] for row in rows for skill in row], dtype=np.int32)
    result[np.arange(result.shape[1]) < widths[:, None]] = flat
    return result


def _allowed(seeds: Sequence[SeedInput], settings: PlanSettings, forbidden: Iterable[Forbidden]) -> Bools:
    eligible = [[name in s.skills and name not in s.ineligible for name in _ACTION_NAMES] for s in seeds]
    allowed: Bools = np.array(eligible, dtype=bool) & np.array(mask(settings.recipe))
    row = {seed.id: index for index, seed in enumerate(seeds)}
    entries = list(forbidden)
    _refuse(
        "forbidden seeds that are not in the pool:", [entry.seed_id for entry in entries if entry.seed_id not in row]
    )
    for entry in entries:
        column = slice(None) if entry.action is None else _ACTION_NAMES.index(str(entry.action))
        allowed[row[entry.seed_id], column] = False
    return allowed


def used_skills(choices: Iterable[Choice]) -> Counter[str]:
    """Uses of each skill by choices that are fixed: what they require and the optional skills that they realised."""
    return Counter(skill for choice in choices for skill in {*choice.required, *choice.optional})
