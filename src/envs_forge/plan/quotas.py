"""Quotas as a user writes them into uses wanted of each skill."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping

from envs_forge.errors import UserError
from envs_forge.plan.inputs import Tables, listing
from envs_forge.plan.model import SeedInput
from envs_forge.plan.problem import NO_SKILL
from envs_forge.plan.settings import PlanSettings
from envs_forge.plan.skills import load_graph


def resolve_quotas(settings: PlanSettings, tables: Tables) -> dict[str, int]:
    """Uses wanted by skill: whole numbers as they are, shares of N rounded up, `uniform` from the pool.

    Raises:
        UserError: A quota that is negative, no number, or above 1 and not whole.
    """
    if settings.quotas == "uniform":
        return uniform_quotas(settings.size, tables)
    return absolute_quotas(settings.quotas, settings.size)


def absolute_quotas(quotas: Mapping[str, float], size: int) -> dict[str, int]:
    """See `resolve_quotas`."""
    wrong = [f"{skill} = {value}" for skill, value in quotas.items() if not _sensible(value)]
    if wrong:
        raise UserError(
            f"quotas that cannot be used: {listing(wrong)}", fix="a share of N below 1, or a whole number of uses"
        )
    return {
        skill: math.ceil(value * size - 1e-9) if value < 1 else int(value)
        for skill, value in quotas.items()
        if value > 0
    }


def refuse_unknown(quotas: Iterable[str], seeds: Iterable[SeedInput]) -> None:
    """Refuse quotas of skills that neither a seed nor the skill graph has: they are slips of the pen.

    Raises:
        UserError: Names them, each with the nearest skill that there is.
    """
    known = {*load_graph().nodes}
    for seed in seeds:
        for candidate in seed.skills.values():
            known.update(candidate.required, candidate.optional)
    unknown = [skill + _nearest(skill, known) for skill in quotas if skill not in known]
    if unknown:
        raise UserError(f"quotas of skills that are not known: {listing(unknown)}")


def _nearest(skill: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(skill, sorted(known), 1, 0.6)
    return f" (did you mean {near[0]}?)" if near else ""


def uniform_quotas(size: int, tables: Tables) -> dict[str, int]:
    """The same quota for every skill that some allowed candidate requires.

    It is N times the mean number of required skills of a candidate, spread evenly over the skills, rounded down, but at
    least 1.
    """
    required = tables.required[tables.allowed.ravel()]
    present = sorted({int(skill) for skill in required.ravel()} - {NO_SKILL})
    if not present:
        return {}
    load = size * float((required != NO_SKILL).sum(axis=1).mean())
    each = max(1, math.floor(load / len(present)))
    return {tables.skills[skill]: each for skill in present}


def _sensible(value: float) -> bool:
    return math.isfinite(value) and value >= 0 and (value < 1 or float(value).is_integer())
