"""Second stage: pass rates and what the generator can do become a plan, and again whenever places are given up."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from envs_forge.errors import UserError
from envs_forge.ledger.records import DecisionRecord
from envs_forge.plan.model import CandidateSkills, Choice, Forbidden, Plan, SeedInput
from envs_forge.plan.settings import PlanSettings
from envs_forge.run.measuring import Rates
from envs_forge.run.parts import Options, Parts
from envs_forge.run.place import Draw, NumberedPlan, Place
from envs_forge.run.seeds import Seed

log = logging.getLogger(__name__)
REPAIR_FOLLOWS = "repair_follows"
"""Key of a rejection's payload: the draw goes back to the generator."""


def usable_seeds(seeds: Sequence[Seed], parts: Parts) -> tuple[list[Seed], dict[str, str]]:
    """Seeds that the generator can do something with, and for each of the others why it cannot.

    Raises:
        UserError: There is none; one line with the commonest reasons.
    """
    usable, reasons = [], {}
    for seed in seeds:
        own = parts.options(seed)
        if any(isinstance(skills, CandidateSkills) for skills in own.values()):
            usable.append(seed)
        else:
            reasons[seed.id] = "; ".join(dict.fromkeys(str(reason) for reason in own.values()))
    if not usable:
        common = "; ".join(reason for reason, _ in Counter(reasons.values()).most_common(2))
        raise UserError(
            f"the {parts.generator.name} generator can evolve none of the {len(seeds)} seeds: {common}",
            fix="choose another --generator or other seeds",
        )
    return usable, reasons


def seed_inputs(seeds: Sequence[Seed], rates: Rates, parts: Parts) -> list[SeedInput]:
    """What the planner is told of each measured seed. Those without a counted rollout are left out."""
    return [
        seed_input(seed.id, seed.hash, rates[seed.hash].k, rates[seed.hash].n, parts.options(seed))
        for seed in seeds
        if rates[seed.hash].n
    ]


def seed_input(name: str, digest: str, k: float, n: int, options: Options) -> SeedInput:
    """One seed as the planner sees it."""
    return SeedInput(
        id=name,
        content_hash=digest,
        k=k,
        n=n,
        skills={action: own for action, own in options.items() if isinstance(own, CandidateSkills)},
        ineligible={action: reason for action, reason in options.items() if isinstance(reason, str)},
    )


@dataclass(frozen=True)
class State:
    """What is decided so far: which places are filled, which are open, which candidates gave theirs up."""

    accepted: Mapping[int, tuple[Draw, DecisionRecord]]
    open: Sequence[Place]
    given_up: Sequence[Place]


def state_of(plans: Sequence[NumberedPlan], decisions: Sequence[DecisionRecord], draws: int) -> State:
    """Work out the state from what is recorded. The newest plan's places are open until accepted or given up."""
    by_place: dict[tuple[int, int], list[DecisionRecord]] = {}
    for decision in decisions:
        by_place.setdefault((decision.plan, decision.slot), []).append(decision)
    accepted: dict[int, tuple[Draw, DecisionRecord]] = {}
    open_: list[Place] = []
    given_up: list[Place] = []
    for numbered in plans:
        for place in numbered.places():
            made = by_place.get((place.plan, place.slot), [])
            winner = next((decision for decision in made if decision.accepted), None)
            if winner is not None:
                accepted[place.slot] = (place.draw(winner.draw, winner.repair), winner)
            elif _used_up(made, draws):
                given_up.append(place)
            else:
                open_.append(place)
    return State(accepted, open_, given_up)


def _used_up(made: Sequence[DecisionRecord], draws: int) -> bool:
    """Whether the last draw at a place is lost and goes to no repair."""
    last = max(made, key=lambda record: (record.draw, record.repair), default=None)
    return last is not None and last.draw >= draws - 1 and not last.payload.get(REPAIR_FOLLOWS)


def replan(
    inputs: Sequence[SeedInput],
    settings: PlanSettings,
    number: int,
    state: State,
    realised: Mapping[int, tuple[str, ...]],
) -> NumberedPlan | None:
    """Solve for the places that are not filled.

    A seed whose candidate gave up a place takes no further part. Only where the others cannot fill N are its other
    actions tried, and only where those cannot either does the plan get smaller.

    Args:
        inputs: The seeds.
        settings: What is wanted.
        number: Number of the plan.
        state: What is filled and what gave up.
        realised: Skills that the accepted candidates exercise, by slot.

    Returns:
        The plan, for as many places as can still be filled; None when that is none of them.

    Raises:
        UserError: The very first plan cannot be made; says why.
    """
    from envs_forge.plan.planner import make_plan

    fixed = [_as_fixed(draw.choice, realised.get(slot, ())) for slot, (draw, _) in sorted(state.accepted.items())]
    if number == 0:
        plan = make_plan(inputs, settings, fixed=fixed)
    else:
        found = _plan_for_the_rest(inputs, settings, fixed, state.given_up)
        if found is None:
            return None
        plan = found
    return NumberedPlan(number=number, plan=plan, slots=_slots(plan, settings.size, state))


def _plan_for_the_rest(
    inputs: Sequence[SeedInput], settings: PlanSettings, fixed: Sequence[Choice], given_up: Sequence[Place]
) -> Plan | None:
    from envs_forge.plan.planner import make_plan
    from envs_forge.plan.solve import ShortageError

    whole_seeds = [Forbidden(seed_id=place.choice.seed_id) for place in given_up]
    candidates = [Forbidden(seed_id=place.choice.seed_id, action=place.choice.action) for place in given_up]
    size = settings.size
    for forbidden in (whole_seeds, candidates, candidates):
        try:
            return make_plan(inputs, settings.model_copy(update={"size": size}), fixed=fixed, forbidden=forbidden)
        except ShortageError as shortage:
            if forbidden is candidates:
                size = shortage.available
            if size <= len(fixed):
                return None
        except UserError as error:
            log.warning("no further plan: %s", error)
            return None
    return None


def explained(plan: Plan, inputs: Sequence[SeedInput], settings: PlanSettings, state: State) -> dict[str, Any]:
    """A plan as JSON with what there is to say about it. `state` is the one that the plan was made for."""
    from envs_forge.plan.explain import explain, plan_document

    new = {choice.seed_id for choice in plan.choices if not choice.fixed}
    # Seeds that gave a place up come back, with their other actions, only where the rest cannot fill N.
    back = any(place.choice.seed_id in new for place in state.given_up)
    forbidden = [
        Forbidden(seed_id=place.choice.seed_id, action=place.choice.action if back else None)
        for place in state.given_up
    ]
    return plan_document(plan, explain(plan, inputs, settings, forbidden=forbidden))


def _slots(plan: Plan, size: int, state: State) -> dict[int, int]:
    """Give each new choice, in the plan's order, the lowest place that is free."""
    free = iter(slot for slot in range(size) if slot not in state.accepted)
    return {next(free): index for index, choice in enumerate(plan.choices) if not choice.fixed}


def _as_fixed(choice: Choice, realised: tuple[str, ...]) -> Choice:
    """An accepted choice as the next plan counts it: with the optional skills that its candidate really exercises."""
    optional = tuple(skill for skill in realised if skill not in choice.required)
    return choice.model_copy(update={"fixed": True, "optional": optional})
