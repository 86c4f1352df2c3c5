"""The six actions as edits of a composition.

| action | what changes | weight |
|---|---|---|
| increase/in_depth | two further constraints, or one more step of the same skills | up |
| increase/in_breadth | one more step, of an operation adjacent to the chain's | up |
| diversify/in_depth | the same skills in another order or place, in another story with other data and words | same |
| diversify/in_breadth | a step (or a constraint) exchanged for an adjacent one, in another story | same |
| reduce/in_depth | all constraints stripped but those that the plan counts on; the steps stay | down |
| reduce/in_breadth | a live service replaced by a fixture, else a step stripped with its constraints | down |

Everything is worked out from the chain alone; nothing is built here. A plan that asks for several optional skills at
once gets as many moves as these need.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache, reduce

from envs_forge.plan.model import ACTIONS, Action, CandidateSkills, Direction, Projection
from envs_forge.synthesis.procedural.blame import distance, step_chances
from envs_forge.synthesis.procedural.chain import fault, skills
from envs_forge.synthesis.procedural.composition import Composition
from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.synthesis.procedural.edits import diversify, increase
from envs_forge.synthesis.procedural.edits import reduce as reducing
from envs_forge.synthesis.procedural.edits.moves import Edit, Uses
from envs_forge.synthesis.procedural.scenario import scenario_ids

WIDTH = 6
"""How many chains are followed at once where several moves are needed."""
LARGEST = 999_999
Kind = tuple[Projection, Direction]
MOVES: Mapping[Kind, tuple[Callable[[Uses], list[Edit]], str]] = {
    (Projection.INCREASE, Direction.IN_DEPTH): (
        increase.in_depth,
        "no further constraint and no further step of the same skills fits",
    ),
    (Projection.INCREASE, Direction.IN_BREADTH): (increase.in_breadth, "no step of an adjacent skill fits"),
    (Projection.DIVERSIFY, Direction.IN_DEPTH): (diversify.in_depth, "the chain has no other instance"),
    (Projection.DIVERSIFY, Direction.IN_BREADTH): (
        diversify.in_breadth,
        "nothing in the chain can be exchanged for an adjacent skill at the same weight",
    ),
    (Projection.REDUCE, Direction.IN_DEPTH): (reducing.in_depth, "no constraint is left to strip"),
    (Projection.REDUCE, Direction.IN_BREADTH): (
        reducing.in_breadth,
        "a single step without a service: there is no system to strip",
    ),
}
"""The edits of each action, and why there may be none."""


def options(composition: Composition) -> Mapping[str, CandidateSkills | str]:
    """For each action the skills of its candidates, or one line that says why it cannot apply."""
    if reason := fault(composition):
        return {str(action): f"the composition cannot be made here: {reason}" for action in ACTIONS}
    return {str(action): _option(composition.uses, action) for action in ACTIONS}


def candidate_edits(uses: Uses, action: Action) -> Sequence[Edit]:
    """Every edit that is one move of the action, in a fixed order; empty where it cannot apply."""
    return _candidates(uses, (action.projection, action.direction))


def ranked_edits(
    uses: Uses,
    action: Action,
    dice: Dice,
    *,
    turn: int,
    required: Collection[str],
    optional: Collection[str],
    failed: Mapping[str, float] | None = None,
) -> list[Edit]:
    """The edits of an action, best first.

    Args:
        uses: The parent's chain.
        action: What to do.
        dice: Settles the order among equally good edits.
        turn: Which of the equally good ones to begin with.
        required: Skills that every edit must keep.
        optional: Skills that the plan counts on: edits that exercise more of them come first.
        failed: In which share of the policy's rollouts each test of the parent failed. Where it is known, the steps
            that stay after a reduction are those that the policy is most likely to get right about half the time.
    """
    wanted = frozenset(optional)
    chances = step_chances(failed, len(uses)) if failed and action.projection is Projection.REDUCE else None

    def rank(edit: Edit) -> tuple[int, float, int]:
        return _missing(edit, wanted), 0.0 if chances is None else distance(chances, edit.without), edit.level

    shuffled = dice.shuffled(candidate_edits(uses, action))
    found = [edit for edit in shuffled if skills(edit.uses).issuperset(required)]
    if action.projection is not Projection.REDUCE:
        found += _further(found, action, frozenset(required), wanted)
    if not found:
        return []
    best = min(map(rank, found))
    first = [edit for edit in found if rank(edit) == best]
    turn %= len(first)
    rest = sorted((edit for edit in found if rank(edit) != best), key=rank)
    return [*first[turn:], *first[:turn], *rest]


def child_of(composition: Composition, edit: Edit, action: Action, dice: Dice) -> Composition:
    """The composition of a child.

    Increase and reduce keep story, file names and wordings, so that the edit can be seen; data and parameters are
    new. Diversify moves to another story with new names, wordings, data and parameters.
    """
    if action.projection is not Projection.DIVERSIFY:
        changed = {"variant": dice.between(1, LARGEST)}
    else:
        others = [name for name in scenario_ids() if name != composition.scenario]
        changed = {"number": dice.between(0, LARGEST), "variant": 0}
        composition = composition.model_copy(update={"scenario": dice.pick(others or [composition.scenario])})
    return composition.model_copy(update={"uses": edit.uses, **changed})


def _option(uses: Uses, action: Action) -> CandidateSkills | str:
    found = [skills(edit.uses) for edit in candidate_edits(uses, action)]
    if not found:
        return MOVES[action.projection, action.direction][1]
    required: frozenset[str] = reduce(frozenset.intersection, found)
    every: frozenset[str] = reduce(frozenset.union, found)
    return CandidateSkills(required=tuple(sorted(required)), optional=tuple(sorted(every - required)))


@lru_cache(maxsize=4096)
def _candidates(uses: Uses, kind: Kind) -> tuple[Edit, ...]:
    return tuple(MOVES[kind][0](uses))


def _further(found: Sequence[Edit], action: Action, required: frozenset[str], wanted: frozenset[str]) -> list[Edit]:
    """Edits of several moves, each of which exercises more of the wanted skills than the one before."""
    added: list[Edit] = []
    front = sorted(found, key=lambda edit: _rank(edit, wanted))[:WIDTH]
    while front and _missing(front[0], wanted):
        after = [
            more.after(edit)
            for edit in front
            for more in candidate_edits(edit.uses, action)
            if _missing(more, wanted) < _missing(edit, wanted) and skills(more.uses) >= required
        ]
        front = sorted(after, key=lambda edit: _rank(edit, wanted))[:WIDTH]
        added += front
    return added


def _missing(edit: Edit, wanted: frozenset[str]) -> int:
    return len(wanted - skills(edit.uses))


def _rank(edit: Edit, wanted: frozenset[str]) -> tuple[int, int]:
    return _missing(edit, wanted), edit.level
