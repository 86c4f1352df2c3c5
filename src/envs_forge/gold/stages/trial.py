"""What the stages that run containers share: runs of the tests, and what it means when they give no reward."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from envs_forge.gold.inspection import Inspection, failed, unsupported
from envs_forge.gold.reasons import MEANINGS, Reason
from envs_forge.gold.variation import DATE, Change, changed, furnish
from envs_forge.gold.verdict import StageResult
from envs_forge.sandbox.engine import ExecResult
from envs_forge.sandbox.runtime import lacks_network
from envs_forge.sandbox.verification import Isolation, Verification

LIMITS = {"disk": "what is written", "processes": "the number of processes"}


@dataclass(frozen=True, slots=True)
class OracleRun:
    """One run of the solution in a fresh sandbox; `verification` is None when the solution ran out of time."""

    solution: ExecResult
    verification: Verification | None

    @property
    def passed(self) -> bool:
        """Whether the tests gave the full reward."""
        return self.verification is not None and self.verification.reward == 1.0

    @property
    def evidence(self) -> str:
        """Ends of the outputs of solution and tests."""
        text = (self.solution.stdout + self.solution.stderr).decode("utf-8", errors="replace")
        head = f"solution (exit code {self.solution.exit_code}):\n{text[-1500:]}"
        if self.verification is None:
            return head
        return f"{head}\ntests (exit code {self.verification.exit_code}):\n{self.verification.output_tail[-2000:]}"


def run_untouched(inspection: Inspection) -> Verification:
    """The tests over the image in which nobody has done anything."""
    return inspection.runtime.verify(inspection.prepared, None)


def run_oracle(inspection: Inspection, isolation: Isolation, *, changes: Sequence[Change] = ()) -> OracleRun:
    """The solution, then the tests, in a fresh sandbox whose surroundings differ by `changes`."""
    runtime, prepared = inspection.runtime, changed(inspection.prepared, changes)
    ours = [path for change in changes for path in change.files or ()]
    with runtime.open(prepared) as work:
        furnish(work, changes)
        solution = runtime.solve(prepared, work)
        if solution.timed_out:
            return OracleRun(solution, None)
        state = inspection.look(work) if inspection.compares else None
        run = OracleRun(solution, runtime.verify(prepared, work, isolation=isolation, keep=ours))
    if run.passed and state is not None and all(change.name != DATE for change in changes):
        inspection.solved.append(state)
    if run.passed and not changes:
        inspection.solution_s = max(inspection.solution_s, solution.duration_s)
    return run


def needs_network(inspection: Inspection, stage: str, text: str) -> StageResult | None:
    """The result for a failure that the missing network explains; None when it does not."""
    if not lacks_network(inspection.prepared, text):
        return None
    return unsupported(stage, Reason.NEEDS_NETWORK, MEANINGS[Reason.NEEDS_NETWORK], text)


def reward_fault(inspection: Inspection, stage: str, verification: Verification) -> StageResult | None:
    """The result for tests that gave no reward; None when they gave one."""
    if verification.fault is None:
        return None
    starved = needs_network(inspection, stage, verification.output_tail)
    if starved is not None:
        return starved
    code = Reason(verification.fault.value)
    killed = " (the memory limit killed a process)" if verification.oom else ""
    killed += "".join(f" (the limit on {LIMITS[name]} was met)" for name in verification.limits)
    evidence = f"tests (exit code {verification.exit_code}):\n{verification.output_tail}"
    return failed(stage, code, MEANINGS[code] + killed, evidence)
