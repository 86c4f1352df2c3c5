"""Which chains are valid."""

from __future__ import annotations

from envs_forge.synthesis.procedural.composition import Composition
from envs_forge.synthesis.procedural.operation import Place
from envs_forge.synthesis.procedural.operations import operations
from envs_forge.synthesis.procedural.scenario import scenario_ids

LONGEST = 6
HEAVIEST = 14
"""Most operations and knobs together: a scenario's machine has that many variables to tell sizes apart."""


def fault(composition: Composition) -> str:
    """Why a composition cannot be made, in one line; empty when it can."""
    if composition.scenario not in scenario_ids():
        return f"no scenario {composition.scenario!r}"
    if len(composition.uses) > LONGEST:
        return f"more than {LONGEST} operations"
    if composition.weight > HEAVIEST:
        return f"more than {HEAVIEST} operations and knobs"
    flows: object = None
    for i, use in enumerate(composition.uses):
        operation = operations().get(use.operation)
        if operation is None:
            return f"no operation {use.operation!r}"
        if i and operation.takes is not flows:
            return f"{use.operation} cannot read what comes before it"
        if reason := _knob_fault(composition, i):
            return reason
        flows = operation.gives
    return ""


def _knob_fault(composition: Composition, at: int) -> str:
    use = composition.uses[at]
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
        if known[name].place is Place.LAST and at < len(composition.uses) - 1:
            return f"{name} must be on the last operation"
    return ""
