"""Last stage: every accepted candidate gets its name and provenance and goes into the export."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from envs_forge.bundle.hashing import content_hash
from envs_forge.bundle.model import Bundle
from envs_forge.bundle.provenance import set_provenance
from envs_forge.errors import InvariantError
from envs_forge.export.prebuilt import with_image
from envs_forge.export.tasks import IndexLine, write_export
from envs_forge.gold.verdict import Verdict
from envs_forge.run.attempts import stored_candidate
from envs_forge.run.directory import RunDirectory
from envs_forge.run.journal import Journal, digest
from envs_forge.run.place import Draw, Made
from envs_forge.run.planning import State

SPEC_VERSION = 1
_EARLIER_PREFIX = re.compile(r"^\d{3,}-(increase|diversify|reduce)-")
_UNUSUAL = re.compile(r"[^A-Za-z0-9._-]+")
_SEED_CHARACTERS = 64


def environment_id(draw: Draw) -> str:
    """Name of an accepted environment, e.g. `007-reduce-log-triage`: its slot, what was done, the seed's name."""
    seed = _UNUSUAL.sub("-", _EARLIER_PREFIX.sub("", draw.choice.seed_id))[:_SEED_CHARACTERS].strip("-.")
    return f"{draw.slot:03d}-{draw.choice.action.projection.value}-{seed or 'seed'}"


def export_accepted(
    state: State,
    journal: Journal,
    directory: RunDirectory,
    target: Path | None = None,
    *,
    image_prefix: str | None = None,
) -> int:
    """Write the export of a run.

    Args:
        state: What was accepted.
        journal: Where its records are.
        directory: The run.
        target: Where to; default the run's own export.
        image_prefix: Where its images are going to be, for readers that pull them; see `export.prebuilt`.

    Returns:
        How many environments were exported.
    """
    place = directory.export if target is None else target.absolute()
    environments = [
        _environment(draw, decision.content_hash or "", journal, directory.candidates)
        for _, (draw, decision) in sorted(state.accepted.items())
    ]
    if image_prefix is not None:
        environments = [with_image(bundle, line, image_prefix) for bundle, line in environments]
    count = write_export(place, environments)
    journal.event("exported", str(place), count=count, ids=[line.id for _, line in environments])
    return count


def _environment(draw: Draw, accepted: str, journal: Journal, candidates: Path) -> tuple[Bundle, IndexLine]:
    made, verdict = journal.made(draw), journal.verdict(draw)
    if made is None or made.candidate is None or verdict is None:
        raise InvariantError(f"{draw.name} was accepted without a candidate or a verdict")
    bundle = stored_candidate(candidates, made.candidate).model_copy(update={"id": environment_id(draw)})
    found = content_hash(bundle)
    if found != accepted:
        raise InvariantError(f"candidate {draw.name} on disk is not the one that was accepted: {found}, not {accepted}")
    return set_provenance(bundle, provenance(draw, made, verdict, bundle)), _line(draw, made, verdict, bundle.id)


def provenance(draw: Draw, made: Made, verdict: Verdict, bundle: Bundle) -> Mapping[str, Any]:
    """The table `[metadata.envs_forge]` of an accepted bundle; what its generator wrote there is kept."""
    choice = draw.choice
    return {
        **bundle.provenance,
        "spec_version": SPEC_VERSION,
        "seed": choice.seed_id,
        "parent": choice.seed_hash,
        "recipe": draw.recipe,
        "projection": choice.action.projection.value,
        "direction": choice.action.direction.value,
        "skills": list(made.realised),
        "seed_pass_rate": choice.pass_rate,
        "seed_k": choice.k,
        "seed_n": choice.n,
        "predicted_pass_rate": choice.predicted,
        "frontier_score": choice.frontier_score,
        "generator": made.generator,
        "generator_model": made.detail.get("model") or None,
        "isolation": verdict.isolation.value,
        "gold_verdict": digest(verdict),
        "content_hash": made.content_hash,
    }


def _line(draw: Draw, made: Made, verdict: Verdict, name: str) -> IndexLine:
    choice = draw.choice
    return IndexLine(
        id=name,
        path=f"tasks/{name}",
        content_hash=made.content_hash or "",
        parent=choice.seed_id,
        parent_hash=choice.seed_hash,
        recipe=draw.recipe,
        action=str(choice.action),
        seed_pass_rate=choice.pass_rate,
        seed_k=choice.k,
        seed_n=choice.n,
        predicted_pass_rate=choice.predicted,
        frontier_score=choice.frontier_score,
        skills=made.realised,
        generator=made.generator,
        verdict_digest=digest(verdict),
        isolation=verdict.isolation.value,
    )


def exported_count(journal: Journal) -> int:
    """How many environments the newest export of the run holds."""
    events: Sequence[Any] = journal.events("exported")
    return int(events[-1].payload["count"]) if events else 0
