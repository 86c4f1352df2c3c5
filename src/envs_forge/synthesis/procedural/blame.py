"""Which steps of a chain the policy stumbles over, from the names of the tests that its rollouts failed."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence

_STEP = re.compile(r"([1-9][0-9]{0,2})\. ")
"""How the names of checks begin: with the number of their step (`render.py`)."""

LEAST = 0.1
"""No step counts as surer or more hopeless than this: a few rollouts say little."""


def step_chances(failed: Mapping[str, float], steps: int) -> list[float]:
    """The chance that the policy gets each step right, as far as failed tests tell.

    Args:
        failed: In which share of the counted rollouts each test failed; names of other forms are skipped.
        steps: Length of the chain.

    Returns:
        For each step 1 less the highest share among its tests, between `LEAST` and 1 − `LEAST`.
    """
    worst = [0.0] * steps
    for name, share in failed.items():
        match = _STEP.match(name)
        if match is not None and 1 <= int(match[1]) <= steps:
            at = int(match[1]) - 1
            worst[at] = max(worst[at], share)
    return [min(max(1.0 - share, LEAST), 1.0 - LEAST) for share in worst]


def distance(chances: Sequence[float], without: Collection[int]) -> float:
    """How far from one half the chance is that all steps but some are done right, were they independent."""
    kept = (chance for at, chance in enumerate(chances) if at not in without)
    return round(abs(math.prod(kept) - 0.5), 9)
