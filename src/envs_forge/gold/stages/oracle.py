"""oracle: the bundle's own solution gets the full reward in a fresh sandbox; `repeat` does it again.

Where the tests fail over the solution's filesystem alone but pass beside its processes, the task needs something that
must keep running. Then the weaker isolation `live` is recorded and used from there on.
"""

from __future__ import annotations

from envs_forge.gold.inspection import Inspection, failed, passed
from envs_forge.gold.reasons import MEANINGS, Reason
from envs_forge.gold.stages.trial import OracleRun, needs_network, reward_fault, run_oracle
from envs_forge.gold.verdict import StageResult
from envs_forge.sandbox.verification import Isolation

NAME = "oracle"


def run(inspection: Inspection) -> StageResult:
    """Run the solution, and find out how its tests must run."""
    first = run_oracle(inspection, Isolation.FRESH)
    if not first.passed:
        if inspection.isolation is Isolation.SEPARATE:
            return _failure(inspection, first)
        live = None if first.verification is None else run_oracle(inspection, Isolation.LIVE)
        if live is None or not live.passed:
            return _failure(inspection, first)
        again = run_oracle(inspection, Isolation.FRESH)
        if again.passed:
            return _flaky(first)
        inspection.isolation = Isolation.LIVE
    return passed(NAME, warnings=_warnings(inspection))


def _warnings(inspection: Inspection) -> tuple[str, ...]:
    if inspection.isolation is not Isolation.LIVE:
        return ()
    return ("the tests need processes that the solution leaves running: they run beside the agent's",)


def _flaky(spoilt: OracleRun) -> StageResult:
    reward = None if spoilt.verification is None else spoilt.verification.reward
    message = f"{MEANINGS[Reason.FLAKY]}: once in full, once {'none' if reward is None else f'{reward:g}'}"
    return failed(NAME, Reason.FLAKY, message, spoilt.evidence)


def _failure(inspection: Inspection, run: OracleRun) -> StageResult:
    starved = needs_network(inspection, NAME, run.evidence)
    if starved is not None:
        return starved
    if run.verification is None:
        seconds = inspection.bundle.config.agent_timeout_sec
        message = f"the solution did not end within {seconds:g} s"
        return failed(NAME, Reason.ORACLE_TIMEOUT, message, run.evidence)
    fault = reward_fault(inspection, NAME, run.verification)
    if fault is not None:
        return fault.model_copy(update={"evidence": run.evidence})
    message = f"the tests gave the solution {run.verification.reward:g}"
    return failed(NAME, Reason.ORACLE_FAILS, message, run.evidence)
