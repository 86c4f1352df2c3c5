"""What the solution leaves at the paths that the task speaks of; found out once for all stages that compare."""

from __future__ import annotations

from envs_forge.gold.inspection import Inspection
from envs_forge.gold.paths import named_paths
from envs_forge.gold.state import Reference, State, agreeing, capture

RUNS = 2


def reference_of(inspection: Inspection) -> Reference:
    """The reference of a bundle.

    Raises:
        InfrastructureError: The machine failed.
    """
    if inspection.reference is None:
        paths = named_paths(inspection.bundle, inspection.prepared.image.workdir)
        before = _state(inspection, paths, solved=False)
        after = _state(inspection, paths, solved=True)
        for _ in range(RUNS - 1):
            after = agreeing(after, _state(inspection, paths, solved=True))
        inspection.reference = Reference(before, after)
    return inspection.reference


def _state(inspection: Inspection, paths: list[str], *, solved: bool) -> State:
    runtime, prepared = inspection.runtime, inspection.prepared
    with runtime.open(prepared) as work:
        if solved:
            inspection.solution_s = max(inspection.solution_s, runtime.solve(prepared, work).duration_s)
        return capture(work, paths)
