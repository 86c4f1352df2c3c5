"""The integer decision and its proof.

First a good plan; then a proof by cases where there are few, else by opening all that could matter.
"""

from __future__ import annotations

from dataclasses import dataclass

from envs_forge.plan.lagrange import View
from envs_forge.plan.problem import Ints, Problem
from envs_forge.plan.scale.cases import by_cases
from envs_forge.plan.scale.core import Reference
from envs_forge.plan.scale.search import Plan, Search, worth


@dataclass(frozen=True)
class Finish:
    """The best plan found, its value and what no plan can exceed; how many candidates and cases were looked into."""

    chosen: Ints
    objective: float
    bound: float
    opened: int
    cases: int = 0


def finish(problem: Problem, view: View, reference: Reference, *, tolerance: float) -> Finish | None:
    """Decide in integers.

    Args:
        problem: Grouped seeds, quotas clipped.
        view: The problem at good prices.
        reference: The linear program's solution.
        tolerance: Absolute gap that is good enough.

    Returns:
        The plan, or None when no plan within the slack limits was found.
    """
    search = Search(problem, view, reference, tolerance, best=_settled(problem, reference))
    if not search.done:
        search.step()
    if not search.done:
        proof = by_cases(search)
        if proof is not None:
            return Finish(proof.plan.chosen, proof.plan.objective, proof.bound, proof.plan.opened, proof.cases)
    while not search.done:
        search.step()
    best = search.best
    return None if best is None else Finish(best.chosen, best.objective, search.bound, best.opened)


def _settled(problem: Problem, reference: Reference) -> Plan | None:
    """The reference as a plan, where nothing is undecided and no slack limit is broken."""
    if reference.undecided.size:
        return None
    chosen = reference.chosen(problem.actions)
    value = worth(problem, chosen) if chosen.size == problem.size else None
    return None if value is None else Plan(chosen, value)
