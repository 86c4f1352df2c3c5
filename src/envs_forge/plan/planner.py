"""From seeds with names to a checked plan: the entry point of the level that people see.

    plan = make_plan(seeds, PlanSettings(size=100, quotas={"operation/join": 5}))
    plan = make_plan(seeds, settings, fixed=accepted, forbidden=[Forbidden(seed_id="s17")])   # replanning

The order of `seeds` never matters. `fixed` choices count towards N, the quotas and their seeds' capacity, with the
optional skills that they list as realised. `forbidden` names candidates or whole seeds that must not be drawn (again).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from envs_forge.errors import UserError
from envs_forge.plan.assemble import assemble
from envs_forge.plan.check import check_plan
from envs_forge.plan.inputs import listing
from envs_forge.plan.model import Choice, Forbidden, Plan, SeedInput
from envs_forge.plan.settings import Arm, PlanSettings
from envs_forge.plan.solve import ShortageError, SlackError, solve
from envs_forge.plan.task import Task, prepare


def make_plan(
    seeds: Sequence[SeedInput],
    settings: PlanSettings,
    *,
    fixed: Sequence[Choice] = (),
    forbidden: Iterable[Forbidden] = (),
) -> Plan:
    """Choose exactly `settings.size` draws, those in `fixed` among them.

    Args:
        seeds: The pool, in any order.
        settings: What is wanted.
        fixed: Choices that were accepted already.
        forbidden: Candidates and seeds that must not be drawn.

    Returns:
        The plan, scored again by an evaluator that shares no code with the solver.

    Raises:
        UserError: Seeds, quotas or fixed choices that make no sense; one line that names them.
        ShortageError: Fewer draws than asked for; says how many there are (a `UserError`).
        InvariantError: The plan failed its check. Never the user's fault.
    """
    if settings.size < 1:
        raise UserError(f"a plan needs a size of at least 1, not {settings.size}")
    task = prepare(seeds, settings, tuple(fixed), tuple(forbidden))
    try:
        blind = settings.seed if settings.arm is Arm.BLIND else None
        solution = solve(task.problem, settings.solver, blind_seed=blind)
    except ShortageError as error:
        raise _shortage(task, error) from error
    except SlackError as error:
        raise _slack(task, error) from error
    plan = assemble(task, solution)
    check_plan(plan, seeds, settings, task.asked, tuple(forbidden))
    return plan


def _shortage(task: Task, error: ShortageError) -> ShortageError:
    fixed, eligible = len(task.fixed), int(task.tables.allowed.any(axis=1).sum())
    fix = "lower the size, add seeds" + (" or raise the capacity" if task.settings.capacity is not None else "")
    if eligible == 0:
        fix = "no seed has an eligible action in this recipe: " + fix
    return ShortageError(error.requested + fixed, error.available + fixed, fix=fix)


def _slack(task: Task, error: SlackError) -> UserError:
    lacking = [
        f"{task.tables.skills[v]} (short by {error.missing[v]:g} more than allowed)"
        for v in np.flatnonzero(error.missing)
    ]
    return UserError(
        f"quotas cannot be met within slack_cap = {task.settings.slack_cap}: {listing(lacking)}",
        fix="lower these quotas or raise slack_cap",
    )
