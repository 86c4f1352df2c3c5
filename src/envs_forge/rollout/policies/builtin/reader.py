"""From an instruction to jobs: every clause is taken in one of the ways whose patterns can read it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
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
    for place, clause in enumerate(_clauses(instruction)):
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


@lru_cache(maxsize=4096)
def _clauses(instruction: str) -> tuple[Clause, ...]:
    return tuple(read_clauses(instruction))


def candidates(clause: Clause, job: Job | None) -> Sequence[Option]:
    """All ways that fit: new steps, and details of the step that the clause follows."""
    if job is None:
        return _candidates(clause, None, None)
    return _candidates(clause, job.known.operation, job.reading["target"])


@lru_cache(maxsize=65536)
def _candidates(clause: Clause, operation: str | None, target: str | None) -> tuple[Option, ...]:
    """Worked out once: a learner reads the same instruction many times."""
    words = frozenset(clause.words)
    found: list[Option] = []
    for known in repertoire():
        reading = known.read(clause, target) if words & known.cues else None
        if reading is not None:
            found += [Option(way, known, reading, True) for way in known.base_ways()]
    before = next((known for known in repertoire() if known.operation == operation), None)
    for detail in before.details if before is not None else ():
        reading = detail.read(clause) if words & detail.cues else None
        if before is not None and reading is not None:
            found += [Option(way, before, reading, False) for way in before.detail_ways(detail)]
    return tuple(found)
