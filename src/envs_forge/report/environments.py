"""An accepted environment beside its seed: what was planned, what was made, how it was verified."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from envs_forge.bundle.model import Bundle
from envs_forge.gold.verdict import StageResult, Verdict
from envs_forge.report.changes import FileChange, changes
from envs_forge.run.attempts import stored_candidate
from envs_forge.run.directory import RunDirectory
from envs_forge.run.exporting import environment_id
from envs_forge.run.journal import Journal
from envs_forge.run.place import Draw
from envs_forge.run.planning import State


@dataclass(frozen=True)
class Environment:
    """One environment. `changes` is None where the seed is not to be found any more; `why_not` says so."""

    id: str
    seed_id: str
    seed_hash: str
    content_hash: str
    recipe: str
    action: str
    k: float
    n: int
    predicted: float
    frontier_score: float
    measured: tuple[float, int] | None
    draws: int
    repairs: int
    generator: str
    skills: tuple[str, ...]
    instruction: str
    stages: tuple[StageResult, ...]
    engine: str
    isolation: str
    changes: tuple[FileChange, ...] | None
    why_not: str = ""

    @property
    def rate(self) -> float:
        """Pass rate of the seed."""
        return self.k / self.n if self.n else 0.0

    @property
    def measured_rate(self) -> float | None:
        """Pass rate of the environment itself, where it was measured."""
        return self.measured[0] / self.measured[1] if self.measured and self.measured[1] else None


def environments(
    state: State, journal: Journal, directory: RunDirectory, seeds: Mapping[str, Bundle]
) -> list[Environment]:
    """All accepted environments of a run, by slot; `seeds` by content hash."""
    return [
        _environment(draw, decision.content_hash or "", decision.payload, journal, directory, seeds)
        for _, (draw, decision) in sorted(state.accepted.items())
    ]


def _environment(
    draw: Draw,
    content_hash: str,
    decided: Mapping[str, Any],
    journal: Journal,
    directory: RunDirectory,
    seeds: Mapping[str, Bundle],
) -> Environment:
    made, verdict = journal.made(draw), journal.verdict(draw)
    child = stored_candidate(directory.candidates, made.candidate) if made and made.candidate else None
    seed = seeds.get(draw.choice.seed_hash)
    measured = (decided["k"], decided["n"]) if decided.get("n") else None
    return Environment(
        id=environment_id(draw),
        seed_id=draw.choice.seed_id,
        seed_hash=draw.choice.seed_hash,
        content_hash=content_hash,
        recipe=draw.recipe,
        action=str(draw.choice.action),
        k=draw.choice.k,
        n=draw.choice.n,
        predicted=draw.choice.predicted,
        frontier_score=draw.choice.frontier_score,
        measured=measured,
        draws=draw.number + 1,
        repairs=draw.repair,
        generator=made.generator if made else "",
        skills=made.realised if made else (),
        instruction=child.instruction if child else "",
        stages=_stages(verdict),
        engine=verdict.engine if verdict else "",
        isolation=verdict.isolation.value if verdict else "",
        changes=tuple(changes(seed, child)) if seed is not None and child is not None else None,
        why_not="" if seed is not None else "the seed is not where it was, or was changed",
    )


def _stages(verdict: Verdict | None) -> tuple[StageResult, ...]:
    return verdict.stages if verdict is not None else ()
