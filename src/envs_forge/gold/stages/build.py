"""build: the image can be made from what the bundle says."""

from __future__ import annotations

from envs_forge.gold.inspection import Inspection, failed, passed, unsupported
from envs_forge.gold.verdict import StageResult
from envs_forge.sandbox.images.model import BuildFault
from envs_forge.sandbox.verification import Isolation

NAME = "build"


def run(inspection: Inspection) -> StageResult:
    """Build the image, or find it; later stages start their sandboxes from it."""
    outcome = inspection.runtime.prepare(inspection.bundle)
    inspection.substitutions.update(outcome.substitutions)
    if isinstance(outcome, BuildFault):
        verdict = unsupported if outcome.unsupported else failed
        return verdict(NAME, outcome.code.value, outcome.message, outcome.log_tail)
    inspection.built = outcome
    if outcome.apart is not None:
        inspection.isolation = Isolation.SEPARATE
    return passed(NAME)
