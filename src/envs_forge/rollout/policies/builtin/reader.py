"""From an instruction to jobs: every clause is taken in one of the ways whose patterns can read it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from envs_forge.rollout.policies.builtin.clauses import Clause, read_clauses
from envs_forge.rollout.policies.builtin.way import OperationWays, Reading, Way
from envs_forge.rollout.policies.builtin.ways import repertoire


@dataclass(frozen=True, slots=True)
class Option:
    """A way that fits a clause, and what its pattern read there."""

    way: Way
    known: OperationWays
    reading: Reading
    base: bool


Chooser = Callable[[int, Clause, Sequence[Option]], int]
"""Place of the clause, the clause, the options → place of the choice."""


@dataclass(slots=True)
class Job:
    """One step as the policy understood it so far."""

    known: OperationWays
    reading: dict[str, Any]
    options: dict[str, Any] = field(default_factory=dict)

    def command(self) -> str:
        """Shell code for it."""
        return self.known.command(self.reading, self.options)


def understand(instruction: str, choose: Chooser) -> tuple[list[Job], list[str]]:
    """Read an instruction clause by clause.

    Returns:
        The jobs in order, and the sentences that name a file but fit no known way.
    """
    jobs: list[Job] = []
    unknown: list[str] = []
    for place, clause in enumerate(read_clauses(instruction)):
        options = candidates(clause, jobs[-1] if jobs else None)
        if not options:
            unknown += [clause.text] if clause.paths else []
            continue
        taken = options[choose(place, clause, options)]
        if taken.base:
            jobs.append(Job(taken.known, dict(taken.reading), dict(taken.way.options)))
        else:
            jobs[-1].reading |= taken.reading
            jobs[-1].options |= taken.way.options
    return jobs, unknown


def candidates(clause: Clause, job: Job | None) -> list[Option]:
    """All ways that fit: new steps, and details of the step that the clause follows."""
    words = frozenset(clause.words)
    found: list[Option] = []
    for known in repertoire():
        reading = known.read(clause, job.reading["target"] if job else None) if words & known.cues else None
        if reading is not None:
            found += [Option(way, known, reading, True) for way in known.base_ways()]
    for detail in job.known.details if job else ():
        reading = detail.read(clause) if words & detail.cues else None
        if job and reading is not None:
            found += [Option(way, job.known, reading, False) for way in job.known.detail_ways(detail)]
    return found
