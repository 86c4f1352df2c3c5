"""mutants: the tests notice when a meaningful piece of the solution is missing or different."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum

from envs_forge.gold.inspection import Inspection, failed, passed
from envs_forge.gold.mutants.choose import choose, mutations_of
from envs_forge.gold.mutants.mutation import Mutation
from envs_forge.gold.reasons import MEANINGS, Reason
from envs_forge.gold.stages.reference import reference_of
from envs_forge.gold.state import Reference, capture
from envs_forge.gold.verdict import StageResult

NAME = "mutants"
TIME_FACTOR = 5.0
"""How many times the solution's own time a mutant gets."""
LEAST_TIME_S = 2.0
FEWEST = 3
"""Mutants that must say something before their share does."""


class Fate(StrEnum):
    """What became of a mutant. An equivalent one leaves what the solution leaves, and says nothing."""

    KILLED = "killed"
    SURVIVED = "survived"
    EQUIVALENT = "equivalent"


@dataclass(slots=True)
class _Tally:
    killed: int = 0
    equivalent: int = 0
    survivors: list[Mutation] = field(default_factory=list)

    @property
    def share(self) -> float:
        """Survivors among the mutants that say something."""
        told = self.killed + len(self.survivors)
        return len(self.survivors) / told if told else 0.0

    @property
    def enough(self) -> bool:
        """Whether the share says something about the tests."""
        return self.killed + len(self.survivors) >= FEWEST

    @property
    def facts(self) -> dict[str, float]:
        """The figures of the verdict."""
        counts = {"killed": self.killed, "survived": len(self.survivors), "equivalent": self.equivalent}
        return {**counts, "share that survives": round(self.share, 3)}

    def __str__(self) -> str:
        return f"{len(self.survivors)} of {self.killed + len(self.survivors)} mutants of the solution survive"


def run(inspection: Inspection) -> StageResult:
    """Run a few mutants in fresh sandboxes."""
    reference = reference_of(inspection)
    if not reference.outputs:
        return passed(NAME, warnings=("no output of the solution is known, so nothing can be said about mutants",))
    tally = _Tally()
    mutations = choose(mutations_of(inspection.bundle), inspection.options.mutants)
    fates = inspection.each(lambda mutation: _fate(inspection, reference, mutation), mutations)
    for mutation, fate in zip(mutations, fates, strict=True):
        if fate is Fate.SURVIVED:
            tally.survivors.append(mutation)
        tally.killed += fate is Fate.KILLED
        tally.equivalent += fate is Fate.EQUIVALENT
    return _result(inspection, tally)


def _fate(inspection: Inspection, reference: Reference, mutation: Mutation) -> Fate:
    runtime, prepared = inspection.runtime, inspection.prepared
    mutant = replace(prepared, bundle=mutation.apply(prepared.bundle))
    with runtime.open(prepared) as work:
        runtime.solve(mutant, work, timeout=max(LEAST_TIME_S, TIME_FACTOR * inspection.solution_s))
        if not reference.differs(capture(work, reference.after)):
            return Fate.EQUIVALENT
        verification = runtime.verify(prepared, work, isolation=inspection.isolation)
    return Fate.SURVIVED if verification.reward == 1.0 else Fate.KILLED


def _result(inspection: Inspection, tally: _Tally) -> StageResult:
    lines = [str(mutation) for mutation in tally.survivors]
    weak = tally.enough and tally.share > inspection.options.survivors_max
    if weak and inspection.bundle.provenance:
        return failed(NAME, Reason.WEAK_TESTS, f"{MEANINGS[Reason.WEAK_TESTS]}: {tally}", "\n".join(lines), tally.facts)
    head = [f"{MEANINGS[Reason.WEAK_TESTS]}: {tally}"] if weak else []
    return passed(NAME, warnings=(*head, *(f"a mutant survives: {line}" for line in lines)), facts=tally.facts)
