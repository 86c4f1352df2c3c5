"""What the solution leaves at the paths that the task speaks of; found out once for all stages that compare."""

from __future__ import annotations

from functools import reduce

from envs_forge.gold.inspection import Inspection
from envs_forge.gold.state import Reference, State, agreeing

RUNS = 2
"""Runs of the solution that must agree; those of earlier stages count."""


def reference_of(inspection: Inspection) -> Reference:
    """The reference of a bundle.

    Raises:
        InfrastructureError: The machine failed.
    """
    if inspection.reference is None:
        if inspection.untouched is None:
            inspection.untouched = _state(inspection, solved=False)
        while len(inspection.solved) < RUNS:
            inspection.solved.append(_state(inspection, solved=True))
        inspection.reference = Reference(inspection.untouched, reduce(agreeing, inspection.solved))
    return inspection.reference


def _state(inspection: Inspection, *, solved: bool) -> State:
    runtime, prepared = inspection.runtime, inspection.prepared
    with runtime.open(prepared) as work:
        if solved:
            inspection.solution_s = max(inspection.solution_s, runtime.solve(prepared, work).duration_s)
        return inspection.look(work)
