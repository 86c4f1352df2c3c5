"""What a recipe, a projection and a direction say in a prompt. All share one contract."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from envs_forge.plan.model import Action, CandidateSkills, Direction, Projection

TEMPLATES: Mapping[str, str] = {
    "forge": "forge",
    "few-shot": "few_shot",
    "self-instruct": "self_instruct",
    "evol-instruct": "evol_instruct",
}
"""Template of the strategy text of each recipe."""

PROJECTIONS: Mapping[Projection, str] = {
    Projection.INCREASE: (
        "make it harder by concrete constraints or edge cases that the data contains. More volume, vague wording, "
        "traps that are not stated and tighter time limits are not what is meant."
    ),
    Projection.DIVERSIFY: (
        "keep the difficulty and change the instance: another scenario, other data, other values, as many requirements "
        "and files as the seed has. Do not make it smaller, and do not give the answer away."
    ),
    Projection.REDUCE: (
        "make it easier by taking away what is secondary: fewer requirements, fewer files, no secondary "
        "systems; replace a service or another live dependency by a fixed file. The core of "
        "the work stays, as a bridge to the seed."
    ),
}
DIRECTIONS: Mapping[Direction, str] = {
    Direction.IN_DEPTH: "stay with the seed's own chain of skills.",
    Direction.IN_BREADTH: "go to skills beside those of the seed.",
}
OBSERVE: Mapping[Projection, str] = {
    Projection.INCREASE: "every constraint or step that is new, by a check of its own that fails without it.",
    Projection.DIVERSIFY: "every requirement of the new instance, as strictly as the seed's tests do.",
    Projection.REDUCE: "all of what is left, and nothing of what was taken away.",
}
_MOST = 10


@dataclass(frozen=True)
class SkillOrders:
    """Skills of an assignment as lists for the prompt; empty texts where there are none."""

    required: str
    add: str
    may_add: str
    may_drop: str


def skill_orders(
    own: tuple[str, ...], option: CandidateSkills, required: tuple[str, ...], assigned: tuple[str, ...]
) -> SkillOrders:
    """Sort skills into those to keep, to add, and those that may come or go.

    Args:
        own: Skills of the seed.
        option: What the action allows on this seed.
        required: Skills that the plan wants preserved.
        assigned: Optional skills that the plan counts on.
    """
    keep = {*required, *(skill for skill in assigned if skill in own)}
    add = {skill for skill in assigned if skill not in own}
    may_add = {skill for skill in option.optional if skill not in own} - add
    may_drop = set(own) - keep
    choices = (", ".join(sorted(skills)[:_MOST]) for skills in (add, may_add, may_drop))
    return SkillOrders(", ".join(sorted(keep)), *choices)  # all of the first: the audit asks for each


def action_texts(action: Action) -> Mapping[str, str]:
    """The words of an action, by the names that the template has for them."""
    return {
        "projection": action.projection.value,
        "projection_text": PROJECTIONS[action.projection],
        "direction": action.direction.value,
        "direction_text": DIRECTIONS[action.direction],
        "observe": OBSERVE[action.projection],
    }
