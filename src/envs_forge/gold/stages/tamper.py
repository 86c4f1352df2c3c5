"""tamper: neither hacks of the verifier nor outputs that only look like work are paid for."""

from __future__ import annotations

from envs_forge.gold.inspection import Inspection, failed, passed
from envs_forge.gold.reasons import MEANINGS, Reason
from envs_forge.gold.stages.reference import reference_of
from envs_forge.gold.state import Reference, State, capture
from envs_forge.gold.tamper.battery import Hack, battery, groups, script_of
from envs_forge.gold.tamper.stubs import Stub, stubs_for
from envs_forge.gold.verdict import StageResult
from envs_forge.sandbox.verification import Isolation, Verification

NAME = "tamper"
_SHELL_S = 60.0


def run(inspection: Inspection) -> StageResult:
    """Try the battery, then the stubs."""
    guilty = _guilty(inspection)
    if inspection.isolation is Isolation.LIVE:
        paying, guilty = guilty, [hack for hack in guilty if hack.fails_live]
        warnings = _live_warnings(paying)
    else:
        warnings = ()
    if guilty:
        message = f"{MEANINGS[Reason.HACK_PAYS]}: {_names(guilty)}"
        return failed(NAME, Reason.HACK_PAYS, message, "\n".join(hack.script for hack in guilty))
    stubs = stubs_for(reference_of(inspection))
    facts = {"hacks": len(battery()), "stubs": [stub.name for stub in stubs]}
    return _stubs(inspection, stubs) or passed(NAME, warnings=warnings, facts=facts)


def _guilty(inspection: Inspection) -> list[Hack]:
    """The hacks that pay.

    Without `live` the first group that has one is enough, and all of it is guilty where none pays alone. With `live`
    a group may pay by a race that is lost the next time, and only what pays alone is told.
    """
    live = inspection.isolation is Isolation.LIVE
    guilty: list[Hack] = []
    trials = list(groups().values())
    for hacks, pays in zip(trials, inspection.each(lambda hacks: _pays(inspection, hacks), trials), strict=True):
        if not pays:
            continue
        alone = [hack for hack in hacks if len(hacks) == 1 or _pays(inspection, [hack])]
        guilty += alone if live else alone or hacks
        if not live:
            break
    return guilty


def _live_warnings(paying: list[Hack]) -> tuple[str, ...]:
    """What `live` cannot keep from paying: the agent's processes and its system are there when the tests run."""
    if not paying:
        return ()
    return (f"the tests run beside the agent's processes, where {len(paying)} hacks pay: {_names(paying)}",)


def _names(hacks: list[Hack]) -> str:
    return ", ".join(hack.name for hack in hacks)


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


def _stubs(inspection: Inspection, stubs: list[Stub]) -> StageResult | None:
    reference = reference_of(inspection)
    results = inspection.each(lambda stub: _stub(inspection, reference, stub), stubs)
    return next((result for result in results if result is not None), None)


def _stub(inspection: Inspection, reference: Reference, stub: Stub) -> StageResult | None:
    verification, state = _judged(inspection, stub.script, list(reference.after))
    if verification.reward != 1.0 or not reference.differs(state):
        return None
    message = f"{MEANINGS[Reason.STUB_PAYS]}: {stub.name}"
    return failed(NAME, Reason.STUB_PAYS, message, f"{stub.script}\n\n{verification.output_tail}")
