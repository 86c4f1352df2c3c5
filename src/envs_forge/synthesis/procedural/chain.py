"""Which chains are valid, what they weigh, and which skills they exercise."""

from __future__ import annotations

from collections.abc import Sequence

from envs_forge.synthesis.procedural.composition import Composition, Use
from envs_forge.synthesis.procedural.operation import Place
from envs_forge.synthesis.procedural.operations import operations
from envs_forge.synthesis.procedural.scenario import scenario_ids

LONGEST = 6
HEAVIEST = 14
"""The most that a chain weighs: a scenario's machine has that many variables to tell sizes apart."""


def fault(composition: Composition) -> str:
    """Why a composition cannot be made, in one line; empty when it can."""
    if composition.scenario not in scenario_ids():
        return f"no scenario {composition.scenario!r}"
    return fault_of(composition.uses)


def fault_of(uses: Sequence[Use]) -> str:
    """Why a chain cannot be made in any scenario, in one line; empty when it can."""
    if not 1 <= len(uses) <= LONGEST:
        return f"not 1 to {LONGEST} operations"
    flows: object = None
    for i, use in enumerate(uses):
        operation = operations().get(use.operation)
        if operation is None:
            return f"no operation {use.operation!r}"
        if i and operation.takes is not flows:
            return f"{use.operation} cannot read what comes before it"
        if i and operation.in_place:
            return f"{use.operation} changes what is given and must come first"
        if operation.plain and any(earlier.operation == use.operation for earlier in uses[:i]):
            return f"{use.operation} a second time would have nothing to do"
        if reason := _knob_fault(uses, i):
            return reason
        flows = operation.gives
    return f"weighs more than {HEAVIEST}" if weight(uses) > HEAVIEST else ""


def weight(uses: Sequence[Use]) -> int:
    """The operations' efforts and the number of knobs together: a rough measure of difficulty."""
    return sum(operations()[use.operation].effort + len(use.knobs) for use in uses)


def skills(uses: Sequence[Use]) -> frozenset[str]:
    """Nodes of the skill graph that a chain exercises."""
    nodes: set[str] = set()
    for use in uses:
        operation = operations()[use.operation]
        nodes.update(operation.skills, (operation.knob(knob).skill for knob in use.knobs))
    return frozenset(nodes)


def _knob_fault(uses: Sequence[Use], at: int) -> str:
    use = uses[at]
    known = {knob.id: knob for knob in operations()[use.operation].knobs}
    if list(use.knobs) != sorted(set(use.knobs)):
        return f"knobs of {use.operation} are not sorted or not unique"
    for name in use.knobs:
        if name not in known:
            return f"{use.operation} has no knob {name!r}"
        if clash := [other for other in known[name].excludes if other in use.knobs]:
            return f"{name} contradicts {clash[0]}"
        if known[name].place is Place.FIRST and at > 0:
            return f"{name} needs a given file"
        if known[name].place is Place.LAST and at < len(uses) - 1:
            return f"{name} must be on the last operation"
    return ""
