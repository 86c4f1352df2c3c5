"""untouched: the environment as the agent finds it scores 0, and the tests say so in a reward file."""

from __future__ import annotations

from envs_forge.gold.inspection import Inspection, failed, passed
from envs_forge.gold.reasons import Reason
from envs_forge.gold.stages.trial import needs_network, reward_fault, run_untouched
from envs_forge.gold.verdict import StageResult

NAME = "untouched"


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
    return starved or passed(NAME)
