from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from envs_forge.errors import InvariantError
from envs_forge.plan.check import check_plan, closed_form, evaluate
from envs_forge.plan.model import ACTIONS, Choice, Forbidden, Plan
from envs_forge.plan.planner import make_plan
from envs_forge.plan.settings import PlanSettings, Scoring

from .instances import brute_force, random_problem, value
from .pools import pool

SEEDS = pool(30, 5)
QUOTAS = {"s/00": 7, "s/01": 9}
SETTINGS = PlanSettings(size=10, quotas=QUOTAS, recipe="forge", scoring=Scoring.POSTERIOR)
PLAN = make_plan(SEEDS, SETTINGS)


def check(plan: Plan, asked: Mapping[str, int] = QUOTAS, **more: Any) -> None:
    check_plan(plan, SEEDS, more.pop("settings", SETTINGS), asked, more.pop("forbidden", ()))


def with_first(**changes: object) -> Plan:
    first, *rest = PLAN.choices
    return PLAN.model_copy(update={"choices": (first.model_copy(update=changes), *rest)})


def other_action(choice: Choice) -> object:
    return next(action for action in ACTIONS if action.projection != choice.action.projection)


def test_a_plan_as_it_was_made_passes() -> None:
    check(PLAN)


@pytest.mark.parametrize(
    ("tamper", "complaint"),
    [
        (lambda: PLAN.model_copy(update={"choices": PLAN.choices[1:]}), "9 choices for 10 places"),
        (lambda: PLAN.model_copy(update={"choices": (*PLAN.choices[1:], PLAN.choices[1])}), "more draws than 1"),
        (lambda: with_first(action=other_action(PLAN.choices[0])), "other required skills|predicted"),
        (lambda: with_first(predicted=PLAN.choices[0].predicted + 0.01), "predicted"),
        (lambda: with_first(frontier_score=PLAN.choices[0].frontier_score + 1e-6), "scores"),
        (lambda: with_first(required=("s/03",)), "other required skills"),
        (lambda: with_first(optional=PLAN.choices[0].required[:1]), "optional skills that it does not offer"),
        (lambda: PLAN.model_copy(update={"objective": PLAN.objective + 1e-4}), "worth"),
        (lambda: PLAN.model_copy(update={"bound": PLAN.objective - 1e-4}), "the objective exceeds the bound"),
        (
            lambda: PLAN.model_copy(update={"quotas": tuple(q.model_copy(update={"short": 3}) for q in PLAN.quotas)}),
            "the quotas are reported wrongly",
        ),
    ],
)
def test_a_tampered_plan_is_refused(tamper: Callable[[], Plan], complaint: str) -> None:
    with pytest.raises(InvariantError, match=complaint):
        check(tamper())


def test_a_plan_is_held_against_recipe_eligibility_bans_and_slack() -> None:
    with pytest.raises(InvariantError, match="not in the recipe"):
        check(PLAN, settings=_settings("few-shot"))
    first = PLAN.choices[0]
    for ban in (Forbidden(seed_id=first.seed_id), Forbidden(seed_id=first.seed_id, action=first.action)):
        with pytest.raises(InvariantError, match=f"{first.seed_id} was forbidden"):
            check(PLAN, forbidden=[ban])
    asked = {**QUOTAS, "s/02": 40}
    lacking = 40 - sum("s/02" in (*choice.required, *choice.optional) for choice in PLAN.choices)
    short = PLAN.model_copy(
        update={
            "quotas": (*PLAN.quotas, PLAN.quotas[0].model_copy(update={"skill": "s/02", "short": lacking})),
            "objective": PLAN.objective - SETTINGS.penalty * lacking,
        }
    )
    check(short, asked)
    with pytest.raises(InvariantError, match="beyond the slack limit"):
        check(short, asked, settings=SETTINGS.model_copy(update={"slack_cap": 0.1}))


def _settings(recipe: str) -> PlanSettings:
    return PlanSettings.model_validate({**SETTINGS.model_dump(), "recipe": recipe})


@pytest.mark.parametrize("number", range(25))
def test_the_evaluator_agrees_with_the_definition(number: int) -> None:
    problem = random_problem(number, most_seeds=4, most_size=3)
    usable = np.flatnonzero((problem.allowed & (problem.capacity > 0)[:, None]).ravel())
    if usable.size == 0:
        return
    rng = np.random.default_rng(number)
    for _ in range(20):
        chosen = tuple(sorted(rng.choice(usable, problem.size).tolist()))
        worth = value(problem, chosen)
        if worth == -np.inf:
            with pytest.raises(InvariantError):
                evaluate(problem, np.array(chosen))
        else:
            assert evaluate(problem, np.array(chosen)) == pytest.approx(worth, abs=1e-9)
            assert worth <= brute_force(problem) + 1e-9


def test_arrays_that_break_a_constraint_are_refused() -> None:
    problem = next(p for p in map(random_problem, range(99)) if p.size > 1 and p.allowed.any(axis=1).all())
    problem = replace(problem, slack_limit=None, capacity=np.ones_like(problem.capacity))
    usable = np.flatnonzero(problem.allowed.ravel())
    with pytest.raises(InvariantError, match="exactly"):
        evaluate(problem, usable[: problem.size - 1])
    with pytest.raises(InvariantError, match="drawn"):
        evaluate(problem, np.repeat(usable[:1], problem.size))
    with pytest.raises(InvariantError, match="does not exist"):
        evaluate(problem, np.full(problem.size, problem.scores.size))
    banned = replace(problem, allowed=np.zeros_like(problem.allowed))
    with pytest.raises(InvariantError, match="not allowed"):
        evaluate(banned, usable[: problem.size])


def test_the_best_uses_for_a_choice_are_closed_form() -> None:
    problem = next(p for p in map(random_problem, range(200)) if p.quotas.sum() > 2 and p.optional_pays)
    chosen = np.flatnonzero(problem.allowed.ravel())[: problem.size]
    used, short = closed_form(problem, chosen)
    assert (used >= 0).all()
    assert (short >= 0).all()
    assert (used + short <= problem.quotas).all()
