"""A solution in arrays back into a plan with names, quotas reported and notes for the reader."""

from __future__ import annotations

import numpy as np

from envs_forge.plan.frontier import predict
from envs_forge.plan.inputs import listing, used_skills
from envs_forge.plan.model import ACTIONS, Choice, Plan, QuotaReport
from envs_forge.plan.optional import assign
from envs_forge.plan.problem import Bools, Solution, reachable
from envs_forge.plan.settings import Arm, Solver
from envs_forge.plan.task import Task


def assemble(task: Task, solution: Solution) -> Plan:
    """The plan: fixed choices first, then the new ones by falling score."""
    settings = task.settings
    duty = assign(task.problem, solution.chosen)
    new = [_choice(task, int(j), duty[row]) for row, j in enumerate(solution.chosen)]
    new.sort(key=lambda choice: (-choice.frontier_score, choice.seed_hash, choice.seed_id, str(choice.action)))
    fixed = [choice.model_copy(update={"fixed": True}) for choice in task.fixed]
    before = sum(choice.frontier_score for choice in fixed)
    score_sum = before + sum(choice.frontier_score for choice in new)
    gap = solution.absolute_gap
    return Plan(
        size=settings.size,
        recipe=settings.recipe.value,
        choices=(*fixed, *new),
        quotas=_quotas(task, fixed, new, solution),
        objective=solution.objective + before,
        bound=solution.bound + before,
        absolute_gap=gap,
        method=solution.method,
        solver=solution.solver,
        seconds=solution.seconds,
        arm=settings.arm.value,
        scoring=settings.scoring.value,
        capacity=task.capacity,
        eligible=int(task.tables.allowed.any(axis=1).sum()),
        score_sum=score_sum,
        relative_gap=gap / score_sum if score_sum > 0 else 0.0,
        size_price=solution.size_price,
        next_price=solution.next_price if np.isfinite(solution.next_price) else None,
        notes=tuple(_notes(task)),
    )


def _choice(task: Task, candidate: int, duty: Bools) -> Choice:
    tables, settings = task.tables, task.settings
    row, column = divmod(candidate, len(ACTIONS))
    seed = tables.seeds[row]
    rate = seed.k / seed.n
    return Choice(
        seed_id=seed.id,
        seed_hash=seed.content_hash,
        action=ACTIONS[column],
        pass_rate=rate,
        k=seed.k,
        n=seed.n,
        predicted=float(predict(np.array([rate]), settings.frontier)[0, column]),
        frontier_score=float(tables.scores[row, column]),
        required=seed.skills[str(ACTIONS[column])].required,
        optional=tuple(tables.skills[v] for v in tables.optional[candidate][duty]),
    )


def _quotas(task: Task, fixed: list[Choice], new: list[Choice], solution: Solution) -> tuple[QuotaReport, ...]:
    most = reachable(task.problem)
    number = {skill: index for index, skill in enumerate(task.tables.skills)}
    done = used_skills(fixed)
    required = used_skills(choice.model_copy(update={"optional": ()}) for choice in (*fixed, *new))
    total = used_skills((*fixed, *new))
    return tuple(
        QuotaReport(
            skill=skill,
            asked=asked,
            reachable=int(most[number[skill]]) + done[skill],
            required_uses=required[skill],
            optional_uses=total[skill] - required[skill],
            short=max(0, asked - total[skill]),
            price=float(solution.prices[number[skill]]),
        )
        for skill, asked in sorted(task.asked.items())
    )


def _notes(task: Task) -> list[str]:
    settings, notes = task.settings, []
    if settings.capacity is None and task.capacity > 1:
        notes.append(f"N = {settings.size} exceeds the eligible seeds: up to {task.capacity} draws of each")
    done, most = used_skills(task.fixed), reachable(task.problem)
    beyond = [
        f"{skill} ({asked} asked, {most[index] + done[skill]} reachable)"
        for index, skill in enumerate(task.tables.skills)
        if (asked := task.asked.get(skill, 0)) > most[index] + done[skill]
    ]
    if beyond:
        notes.append(f"quotas beyond what the pool can give: {listing(beyond)}")
    proven = settings.arm is Arm.MASKED and settings.solver is Solver.MILP
    if settings.slack_cap is not None and not proven:
        notes.append("slack_cap binds the optimiser only; it was not applied here")
    if settings.penalty <= settings.epsilon and task.asked:
        notes.append("λ ≤ ε: optional skills never pay, quotas are met by required skills alone")
    return notes
