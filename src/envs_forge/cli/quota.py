"""Quotas as they are written on the command line."""

from __future__ import annotations

from collections.abc import Sequence

from envs_forge.errors import UserError

_FIX = "write SKILL=N (uses), SKILL=0.1 (a share of N below 1), or uniform alone"


def parse_quotas(given: Sequence[str]) -> str | dict[str, float] | None:
    """Values of `--quota`: `operation/join=5`, `domain/logs=0.2`, or `uniform`. None when there are none.

    Raises:
        UserError: One of them is written in another way, or names a skill again.
    """
    if not given:
        return None
    if "uniform" in given:
        if set(given) != {"uniform"}:
            raise UserError("--quota uniform asks the same of every skill and stands alone", fix=_FIX)
        return "uniform"
    quotas: dict[str, float] = {}
    for text in given:
        skill, equals, number = (part.strip() for part in text.partition("="))
        if not skill or not equals or skill in quotas:
            raise UserError(f"--quota {text}: {'given twice' if skill in quotas else 'no quota'}", fix=_FIX)
        quotas[skill] = _number(text, number)
    return quotas


def _number(text: str, number: str) -> float:
    try:
        return float(number)
    except ValueError:
        raise UserError(f"--quota {text}: {number!r} is not a number", fix=_FIX) from None
