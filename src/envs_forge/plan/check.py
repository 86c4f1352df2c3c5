"""The independent evaluator: scores a choice of candidates from the problem alone.

For a fixed choice the best optional uses and slacks have a closed form, so a plan is judged by what it chose and by
nothing that a solver reports. `evaluate` works on arrays; `check_plan` recomputes a finished plan from its seeds in
plain Python. A plan that fails is a defect of ours and never returned.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from envs_forge.errors import InvariantError
from envs_forge.plan.frontier import scores
from envs_forge.plan.model import ACTIONS, Choice, Direction, Forbidden, Plan, Projection, SeedInput
from envs_forge.plan.problem import Floats, Ints, Problem, uses
from envs_forge.plan.recipes import MASKS
from envs_forge.plan.settings import Arm, FrontierConfig, PlanSettings, Scoring, Solver

TOLERANCE = 1e-9
"""How far a recomputed score may be off, and a sum of scores for each of its terms."""


def evaluate(problem: Problem, chosen: Ints) -> float:
    """Exact value of a choice.

    Args:
        problem: What was to be decided.
        chosen: Candidate indices, repeated when drawn more than once.

    Raises:
        InvariantError: The choice breaks a constraint.
    """
    chosen = np.asarray(chosen, dtype=np.int64)
    _check_draws(problem, chosen)
    used, short = closed_form(problem, chosen)
    if np.any(short > problem.limits + 1e-9):
        skill = int(np.argmax(short - problem.limits))
        raise InvariantError(f"skill {skill} lacks {short[skill]:g}, the limit is {problem.limits[skill]:g}")
    value = problem.scores.ravel()[chosen].sum()
    return float(value - problem.epsilon * used.sum() - problem.penalty * short.sum())


def closed_form(problem: Problem, chosen: Ints) -> tuple[Ints, Floats]:
    """Best optional uses and remaining shortage (V,) of each quota for a choice."""
    required = uses(problem.required[chosen], problem.quotas.size)
    offered = uses(problem.optional[chosen], problem.quotas.size)
    short = np.maximum(problem.quotas - required, 0)
    if problem.optional_pays:
        used = np.minimum(short, offered)
    else:
        beyond = np.maximum(np.ceil(short - problem.limits - 1e-9), 0.0)
        used = np.minimum(beyond, offered).astype(np.int64)
    return used, (short - used).astype(np.float64)


def _check_draws(problem: Problem, chosen: Ints) -> None:
    if chosen.size != problem.size:
        raise InvariantError(f"a plan must choose exactly {problem.size}, this one chose {chosen.size}")
    if chosen.size and (chosen.min() < 0 or chosen.max() >= problem.scores.size):
        raise InvariantError("a candidate that does not exist was chosen")
    if not problem.allowed.ravel()[chosen].all():
        raise InvariantError("a candidate that is not allowed was chosen")
    draws = np.bincount(chosen // problem.actions, minlength=problem.seeds)
    if np.any(draws > problem.capacity):
        seed = int(np.argmax(draws - problem.capacity))
        raise InvariantError(f"seed {seed} was drawn {draws[seed]} times, its capacity is {problem.capacity[seed]}")


def check_plan(
    plan: Plan,
    seeds: Sequence[SeedInput],
    settings: PlanSettings,
    asked: Mapping[str, int],
    forbidden: Iterable[Forbidden],
) -> None:
    """Recompute a plan from its seeds, in plain Python and without the arrays.

    Args:
        plan: What was planned.
        seeds: The pool.
        settings: What was wanted.
        asked: Uses wanted by skill.
        forbidden: What must not be in the plan but as a fixed choice.

    Raises:
        InvariantError: Anything in the plan that is not so.
    """
    pool = {seed.id: seed for seed in seeds}
    banned = {(entry.seed_id, entry.action) for entry in forbidden}
    new = [choice for choice in plan.choices if not choice.fixed]
    _require(len(plan.choices) == plan.size == settings.size, f"{len(plan.choices)} choices for {settings.size} places")
    for choice in new:
        seed = pool[choice.seed_id]
        _require((seed.id, None) not in banned and (seed.id, choice.action) not in banned, f"{seed.id} was forbidden")
        _check_choice(choice, seed, settings)
    draws = Counter(choice.seed_id for choice in plan.choices)
    over = [choice.seed_id for choice in new if draws[choice.seed_id] > plan.capacity]
    _require(not over, f"more draws than {plan.capacity} of {over[:5]}")
    _check_value(plan, settings, asked)


def _check_choice(choice: Choice, seed: SeedInput, settings: PlanSettings) -> None:
    where, name = f"{seed.id}, {choice.action}", str(choice.action)
    _require(choice.action in MASKS[settings.recipe], f"{where}: not in the recipe")
    _require(name in seed.skills and name not in seed.ineligible, f"{where}: not eligible")
    candidate = seed.skills[name]
    _require(choice.required == candidate.required, f"{where}: other required skills")
    spare = set(candidate.optional) - set(candidate.required)
    _require(len(set(choice.optional)) == len(choice.optional), f"{where}: an optional skill twice")
    _require(set(choice.optional) <= spare, f"{where}: optional skills that it does not offer")
    predicted = _predicted(seed.k / seed.n, choice, settings.frontier)
    _require(math.isclose(choice.predicted, predicted, abs_tol=TOLERANCE), f"{where}: predicted {predicted}")
    score = _score(predicted, choice, seed, settings)
    _require(math.isclose(choice.frontier_score, score, abs_tol=TOLERANCE), f"{where}: scores {score}")


def _predicted(rate: float, choice: Choice, config: FrontierConfig) -> float:
    shift = {
        Projection.INCREASE: config.shift_increase,
        Projection.DIVERSIFY: config.shift_diversify,
        Projection.REDUCE: config.shift_reduce,
    }[choice.action.projection]
    deep = choice.action.direction is Direction.IN_DEPTH
    product = shift * (config.factor_in_depth if deep else config.factor_in_breadth)
    return min(1.0, max(0.0, rate + config.shifts.get(str(choice.action), product)))


def _score(predicted: float, choice: Choice, seed: SeedInput, settings: PlanSettings) -> float:
    config = settings.frontier
    if settings.scoring is Scoring.PLUG_IN:
        return math.exp(-((predicted - config.tau) ** 2) / (2 * config.sigma**2))
    row = scores(np.array([seed.k]), np.array([float(seed.n)]), config, settings.scoring)[0]
    return float(row[ACTIONS.index(choice.action)])


def _check_value(plan: Plan, settings: PlanSettings, asked: Mapping[str, int]) -> None:
    counted = Counter(skill for choice in plan.choices for skill in {*choice.required, *choice.optional})
    short = {skill: max(0, quota - counted[skill]) for skill, quota in asked.items()}
    _require({q.skill: q.short for q in plan.quotas} == short, "the quotas are reported wrongly")
    optional = sum(len(choice.optional) for choice in plan.choices if not choice.fixed)
    value = math.fsum(choice.frontier_score for choice in plan.choices)
    value -= settings.epsilon * optional + settings.penalty * sum(short.values())
    near = TOLERANCE * (plan.size + sum(asked.values()) + 1)
    _require(
        math.isclose(plan.objective, value, abs_tol=near, rel_tol=TOLERANCE), f"worth {value}, not {plan.objective}"
    )
    _require(plan.objective <= plan.bound + near, "the objective exceeds the bound")
    if settings.slack_cap is not None and settings.arm is Arm.MASKED and settings.solver is Solver.MILP:
        over = [skill for skill, quota in asked.items() if short[skill] > settings.slack_cap * quota + TOLERANCE]
        _require(not over, f"beyond the slack limit: {over[:5]}")


def _require(condition: bool, complaint: str) -> None:
    if not condition:
        raise InvariantError(f"the plan fails its check: {complaint}")
