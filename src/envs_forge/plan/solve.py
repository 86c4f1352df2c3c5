"""From a problem in arrays to a checked solution: the entry point of the array level.

    solution = solve(problem)                  # exact
    solution = solve(problem, Solver.GREEDY)   # an ablation

Raises `ShortageError` when there are fewer draws than `size` and `SlackError` when quotas cannot be met within their
slack limits; everything else that goes wrong is a defect and an `InvariantError`.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from envs_forge.errors import InvariantError, UserError
from envs_forge.plan import heuristics
from envs_forge.plan.check import evaluate
from envs_forge.plan.collapse import collapse
from envs_forge.plan.exact import least_missing
from envs_forge.plan.highs import version
from envs_forge.plan.problem import Floats, Ints, Problem, Solution, reachable, surely_reachable
from envs_forge.plan.scale.optimum import best_prices, optimum
from envs_forge.plan.settings import Solver
from envs_forge.plan.ties import settle

_EXPLAINABLE = 4_000
"""Most groups for which the quotas that cannot be met are worked out exactly."""


class ShortageError(UserError):
    """There are fewer draws than the plan must choose.

    Attributes:
        requested: Draws asked for.
        available: Draws that the eligible seeds allow.
    """

    def __init__(self, requested: int, available: int, *, fix: str | None = None) -> None:
        super().__init__(f"{requested} draws were asked for, the eligible seeds allow {available}", fix=fix)
        self.requested, self.available = requested, available


class SlackError(UserError):
    """Quotas cannot be met within their slack limits. `missing` (V,) is what lacks beyond them."""

    def __init__(self, missing: Floats) -> None:
        super().__init__(f"{int((missing > 0).sum())} quotas cannot be met within the slack limit")
        self.missing = missing


def solve(problem: Problem, solver: Solver = Solver.MILP, *, blind_seed: int | None = None) -> Solution:
    """Choose exactly `problem.size` draws.

    Args:
        problem: What is to be decided.
        solver: The optimiser or one of the ablations.
        blind_seed: Set for the `blind` arm: the seed of its random order; `solver` plays no part then.

    Raises:
        ShortageError: Fewer draws than asked for.
        SlackError: Quotas cannot be met within their slack limits.
    """
    began = time.perf_counter()
    _require_draws(problem)
    free = replace(problem, slack_limit=None)
    if blind_seed is not None:
        found = _ablation(free, "blind", heuristics.blind(free, blind_seed))
    elif solver is Solver.ARGMAX:
        found = _ablation(free, solver.value, settle(free, heuristics.argmax(free)))
    elif solver is Solver.GREEDY:
        found = _ablation(free, solver.value, settle(free, heuristics.greedy(free)))
    else:
        found = _optimum(problem)
    return replace(found, seconds=time.perf_counter() - began)


def _require_draws(problem: Problem) -> None:
    available = int(problem.capacity[problem.allowed.any(axis=1)].clip(min=0).sum())
    if available < problem.size:
        raise ShortageError(problem.size, available)


def _ablation(problem: Problem, method: str, chosen: Ints) -> Solution:
    """A heuristic's choice with the bound that the best prices give."""
    objective = evaluate(problem, chosen)
    clipped, lost = _clip(problem)
    view = best_prices(collapse(clipped).problem).view
    return Solution(
        chosen, objective, max(view.bound - lost, objective), view.prices, view.threshold, view.following, method
    )


def _optimum(problem: Problem) -> Solution:
    clipped, lost = _clip(problem)
    groups = collapse(clipped)
    best = optimum(groups.problem)
    if best.finish is None:
        small = groups.problem.seeds <= _EXPLAINABLE
        raise SlackError(least_missing(groups.problem) if small else best.missing)
    chosen = settle(problem, groups.expand(best.finish.chosen))
    objective, bound = evaluate(problem, chosen), best.finish.bound - lost
    if objective > bound + 1e-9 * (1.0 + problem.size + float(problem.quotas.sum())):
        raise InvariantError(f"a plan worth {objective:.9f} exceeds its bound {bound:.9f}")
    solver = {
        "name": "HiGHS",
        "version": version(),
        "options": "threads=1 random_seed=0 mip_rel_gap=0",
        "groups": str(groups.problem.seeds),
        "price_steps": str(best.steps),
        "candidates_opened": str(best.finish.opened),
        "cases": str(best.finish.cases),
    }
    return Solution(
        chosen=chosen,
        objective=objective,
        bound=max(bound, objective),
        prices=best.view.prices,
        size_price=best.view.threshold,
        next_price=best.view.following,
        method=Solver.MILP.value,
        solver=solver,
    )


def _clip(problem: Problem) -> tuple[Problem, float]:
    """Quotas cut to what can be reached, and what the rest costs whatever is chosen.

    An objective inflated by uses that no plan can make would hide real losses behind a relative gap.
    """
    doubtful = np.flatnonzero(problem.quotas > surely_reachable(problem))
    quotas = problem.quotas.copy()
    quotas[doubtful] = np.minimum(quotas[doubtful], reachable(problem, doubtful))
    rest = (problem.quotas - quotas).astype(np.float64)
    limits = problem.limits - rest
    if np.any(limits < 0):
        raise SlackError(np.maximum(-limits, 0.0))
    limited = None if problem.slack_limit is None else np.floor(limits + 1e-9)
    return replace(problem, quotas=quotas, slack_limit=limited), float(problem.penalty * rest.sum())
