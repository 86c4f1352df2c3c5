"""untouched: the environment as the agent finds it scores 0, and the tests say so in a reward file."""

from __future__ import annotations

from envs_forge.gold.guards import guards_of
from envs_forge.gold.inspection import Inspection, failed, passed
from envs_forge.gold.reasons import MEANINGS, Reason
from envs_forge.gold.stages.trial import needs_network, reward_fault, run_untouched
from envs_forge.gold.verdict import StageResult
from envs_forge.sandbox.verification import Verification

NAME = "untouched"
SHOWN = 20


def run(inspection: Inspection) -> StageResult:
    """Run the tests over a sandbox in which nothing was done."""
    verification = run_untouched(inspection)
    fault = reward_fault(inspection, NAME, verification)
    if fault is not None:
        return fault
    reward = verification.reward
    assert reward is not None
    if reward > inspection.options.untouched_max:
        message = f"nothing was done and the tests gave {reward:g}"
        return failed(NAME, Reason.UNTOUCHED_SCORES, message, verification.output_tail)
    starved = needs_network(inspection, NAME, verification.output_tail)
    return starved or _single_tests(inspection, verification)


def _single_tests(inspection: Inspection, verification: Verification) -> StageResult:
    """What single tests said: those that pass already may be guards against damage, or test nothing."""
    tests = verification.tests
    facts = {"reward": verification.reward}
    if tests:
        facts |= {"tests": len(tests), "passing": sum(tests.values())}
    declared = guards_of(inspection.bundle)
    passing = [name for name, is_passed in tests.items() if is_passed and name not in declared]
    if not passing:
        return passed(NAME, facts=facts)
    more = f" and {len(passing) - SHOWN} more" if len(passing) > SHOWN else ""
    listed = ", ".join(passing[:SHOWN]) + more
    if inspection.bundle.provenance:
        message = f"{MEANINGS[Reason.PASSES_UNTOUCHED]}: {listed}"
        return failed(NAME, Reason.PASSES_UNTOUCHED, message, verification.output_tail, facts)
    warning = f"{len(passing)} of {len(tests)} tests pass in the untouched environment: {listed}"
    return passed(NAME, warnings=(warning,), facts=facts)
