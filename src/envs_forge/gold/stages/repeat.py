"""repeat: the solution gets the full reward in other surroundings too."""

from __future__ import annotations

from collections.abc import Sequence

from envs_forge.gold.inspection import Inspection, failed, passed
from envs_forge.gold.reasons import MEANINGS, Reason
from envs_forge.gold.stages.trial import OracleRun, needs_network, run_oracle
from envs_forge.gold.variation import RUNS, Change, Openings, date_change, openings
from envs_forge.gold.verdict import StageResult

NAME = "repeat"
MOST_CULPRITS = 6


def run(inspection: Inspection) -> StageResult:
    """Run the solution with everything changed that the task leaves open; name what makes a difference."""
    opened = openings(inspection.runtime, inspection.prepared)
    for changes in RUNS[: inspection.options.repeats]:
        possible = tuple(change for change in changes if opened.allow(change))
        spoilt = run_oracle(inspection, inspection.isolation, changes=possible)
        if not spoilt.passed:
            return _flaky(inspection, possible, spoilt)
    return passed(NAME, warnings=_date_warnings(inspection, opened))


def _flaky(inspection: Inspection, changes: Sequence[Change], spoilt: OracleRun) -> StageResult:
    starved = needs_network(inspection, NAME, spoilt.evidence)
    if starved is not None:
        return starved
    culprits = [
        change.name
        for change in changes[:MOST_CULPRITS]
        if not run_oracle(inspection, inspection.isolation, changes=(change,)).passed
    ]
    what = f"it depends on {', '.join(culprits)}" if culprits else "it failed once and then no more"
    return failed(NAME, Reason.FLAKY, f"{MEANINGS[Reason.FLAKY]}: {what}", spoilt.evidence)


def _date_warnings(inspection: Inspection, opened: Openings) -> tuple[str, ...]:
    """A task that depends on the date is only worth a warning: it may be about dates."""
    change = date_change(opened)
    if change is None:
        return ()
    if run_oracle(inspection, inspection.isolation, changes=(change,)).passed:
        return ()
    return ("on another date the solution does not get the full reward",)
