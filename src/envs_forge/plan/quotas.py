"""Quotas as a user writes them into uses wanted of each skill."""

from __future__ import annotations

import math
from collections.abc import Mapping

from envs_forge.errors import UserError
from envs_forge.plan.inputs import Tables, listing
from envs_forge.plan.problem import NO_SKILL
from envs_forge.plan.settings import PlanSettings


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
