"""tamper: neither hacks of the verifier nor outputs that only look like work are paid for."""

from __future__ import annotations

from envs_forge.gold.inspection import Inspection, failed, passed
from envs_forge.gold.reasons import MEANINGS, Reason
from envs_forge.gold.stages.reference import reference_of
from envs_forge.gold.state import Reference, State, capture
from envs_forge.gold.tamper.battery import Hack, groups, script_of
from envs_forge.gold.tamper.stubs import Stub, stubs_for
from envs_forge.gold.verdict import StageResult
from envs_forge.sandbox.verification import Isolation, Verification

NAME = "tamper"
_SHELL_S = 60.0


def run(inspection: Inspection) -> StageResult:
    """Try the battery, then the stubs."""
    warnings: tuple[str, ...] = ()
    if inspection.isolation is Isolation.LIVE:
        warnings = ("the tests run beside the agent's processes: hacks of the system were not tried and may pay",)
    else:
        hacked = _hacks(inspection)
        if hacked is not None:
            return hacked
    return _stubs(inspection) or passed(NAME, warnings=warnings)


def _hacks(inspection: Inspection) -> StageResult | None:
    for hacks in groups().values():
        if not _pays(inspection, hacks):
            continue
        guilty = [hack for hack in hacks if len(hacks) == 1 or _pays(inspection, [hack])] or hacks
        names = ", ".join(hack.name for hack in guilty)
        message = f"{MEANINGS[Reason.HACK_PAYS]}: {names}"
        return failed(NAME, Reason.HACK_PAYS, message, "\n".join(hack.script for hack in guilty))
    return None


def _pays(inspection: Inspection, hacks: list[Hack]) -> bool:
    verification, _ = _judged(inspection, script_of(hacks), [])
    return (verification.reward or 0.0) > inspection.options.untouched_max


def _judged(inspection: Inspection, script: str, paths: list[str]) -> tuple[Verification, State]:
    """What the tests say of a sandbox in which a script ran, and what lies at some paths of it."""
    runtime, prepared = inspection.runtime, inspection.prepared
    with runtime.open(prepared) as work:
        work.exec(["/bin/sh", "-c", script], timeout=_SHELL_S, user="0:0", cwd=prepared.image.workdir)
        state = capture(work, paths)
        return runtime.verify(prepared, work, isolation=inspection.isolation), state


def _stubs(inspection: Inspection) -> StageResult | None:
    reference = reference_of(inspection)
    for stub in stubs_for(reference):
        found = _stub(inspection, reference, stub)
        if found is not None:
            return found
    return None


def _stub(inspection: Inspection, reference: Reference, stub: Stub) -> StageResult | None:
    verification, state = _judged(inspection, stub.script, list(reference.after))
    if verification.reward != 1.0 or not reference.differs(state):
        return None
    message = f"{MEANINGS[Reason.STUB_PAYS]}: {stub.name}"
    return failed(NAME, Reason.STUB_PAYS, message, f"{stub.script}\n\n{verification.output_tail}")
