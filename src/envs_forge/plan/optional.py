"""Which optional skills each chosen candidate must exercise.

The program counts optional uses per skill only. Here they are handed out: a quota that needs `u` optional uses gets
them from the `u` chosen candidates that offer the skill and have the fewest such duties so far, then by content hash.
"""

from __future__ import annotations

import numpy as np

from envs_forge.plan.check import closed_form
from envs_forge.plan.problem import Bools, Ints, Problem


def assign(problem: Problem, chosen: Ints) -> Bools:
    """Mask over `problem.optional[chosen]`: the optional uses that the plan counts on. Shape (size, o)."""
    wanted, _ = closed_form(problem, chosen)
    skills = problem.optional[chosen]
    duty = np.zeros(skills.shape, bool)
    load = np.zeros(chosen.size, np.int64)
    keys = problem.keys[chosen // problem.actions]
    draw, place = np.nonzero(skills >= 0)
    by_skill = np.argsort(skills[draw, place], kind="stable")
    draw, place = draw[by_skill], place[by_skill]
    starts = np.searchsorted(skills[draw, place], np.arange(wanted.size + 1))
    # Scarce skills choose first: they have the fewest candidates to choose from.
    for skill in np.argsort(np.diff(starts), kind="stable").tolist():
        if wanted[skill] == 0:
            continue
        span = slice(starts[skill], starts[skill + 1])
        rank = np.lexsort((chosen[draw[span]], keys[draw[span]], load[draw[span]]))[: wanted[skill]]
        taken = draw[span][rank]
        duty[taken, place[span][rank]] = True
        load[taken] += 1
    return duty
