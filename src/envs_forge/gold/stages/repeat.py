"""repeat: the solution gets the full reward in other surroundings too."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle, islice

from envs_forge.gold.inspection import Inspection, failed, passed
from envs_forge.gold.reasons import MEANINGS, Reason
from envs_forge.gold.stages.trial import OracleRun, needs_network, run_oracle
from envs_forge.gold.variation import DATE, RUNS, Change, Openings, date_change, openings
from envs_forge.gold.verdict import StageResult

NAME = "repeat"


def run(inspection: Inspection) -> StageResult:
    """Run the solution with everything changed that the task leaves open; name what makes a difference."""
    opened = _opened(inspection)
    runs = list(islice(cycle(RUNS), inspection.options.oracle_runs - 1))
    possible = [tuple(change for change in changes if opened.allow(change)) for changes in runs]
    date = date_change(opened)
    varied = [[str(change) for change in changes] for changes in possible]
    fixed = _left_alone(opened) if date else [*_left_alone(opened), f"{DATE}: {opened.date_is_fixed}"]
    facts = {"varied": varied, "not varied": fixed}
    oracles = inspection.each(lambda changes: run_oracle(inspection, inspection.isolation, changes=changes), possible)
    for changes, spoilt in zip(possible, oracles, strict=True):
        if not spoilt.passed:
            return _flaky(inspection, changes, spoilt).model_copy(update={"facts": facts})
    if date is None:
        return passed(NAME, facts=facts)
    varied.append([str(date)])
    return passed(NAME, warnings=_date_warnings(inspection, date), facts=facts)


def _opened(inspection: Inspection) -> Openings:
    """What may be changed; the sandbox that shows it is also the one that shows what nobody has touched."""
    with inspection.runtime.open(inspection.prepared) as work:
        if inspection.compares and inspection.untouched is None:
            inspection.untouched = inspection.look(work)
        return openings(inspection.prepared, work)


def _left_alone(opened: Openings) -> list[str]:
    """Names of the changes that image or task rule out."""
    every = dict.fromkeys(change.name for changes in RUNS for change in changes if not opened.allow(change))
    return [f"{name}: the image, the task or the machine says what it is" for name in every]


def _flaky(inspection: Inspection, changes: Sequence[Change], spoilt: OracleRun) -> StageResult:
    starved = needs_network(inspection, NAME, spoilt.evidence)
    if starved is not None:
        return starved
    alone = inspection.each(lambda change: run_oracle(inspection, inspection.isolation, changes=(change,)), changes)
    culprits = [str(change) for change, oracle in zip(changes, alone, strict=True) if not oracle.passed]
    what = f"it depends on {', '.join(culprits)}" if culprits else "it failed once and then no more"
    return failed(NAME, Reason.FLAKY, f"{MEANINGS[Reason.FLAKY]}: {what}", spoilt.evidence)


def _date_warnings(inspection: Inspection, change: Change) -> tuple[str, ...]:
    """A task that depends on the date is only worth a warning: it may be about dates."""
    if run_oracle(inspection, inspection.isolation, changes=(change,)).passed:
        return ()
    return ("on another date the solution does not get the full reward",)
