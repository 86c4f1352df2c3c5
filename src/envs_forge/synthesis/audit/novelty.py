"""Is a candidate something new: no copy of its seed, of another task, of an evaluation task, nor the seed renamed?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from envs_forge.bundle.model import Bundle
from envs_forge.plan.model import Action, Direction, Projection
from envs_forge.synthesis.audit.model import AuditCode, Finding
from envs_forge.synthesis.overlap.corpus import Corpus, Match, Source
from envs_forge.synthesis.overlap.document import document_of
from envs_forge.synthesis.overlap.prints import likeness, prints_of
from envs_forge.synthesis.overlap.renaming import renamed_share

COPY: Mapping[tuple[Projection, Direction], float] = {
    (Projection.INCREASE, Direction.IN_DEPTH): 0.90,
    (Projection.INCREASE, Direction.IN_BREADTH): 0.85,
    (Projection.DIVERSIFY, Direction.IN_DEPTH): 0.80,
    (Projection.DIVERSIFY, Direction.IN_BREADTH): 0.75,
    (Projection.REDUCE, Direction.IN_DEPTH): 0.90,
    (Projection.REDUCE, Direction.IN_BREADTH): 0.85,
}
"""Mean likeness with the parent from which on a candidate is a copy of it, by action: increase and reduce keep the
story and may stay close, diversify in breadth has the least reason to."""
OTHER = 0.80
"""The same for other seeds and for accepted candidates, of which two of one seed and action may resemble each other."""
RENAMED: Mapping[Projection, float] = {
    Projection.INCREASE: 0.985,
    Projection.DIVERSIFY: 0.93,
    Projection.REDUCE: 0.985,
}
"""Share of instruction and of solution from which on only names were changed. Another number is no other name."""


def copies(parent: Bundle, candidate: Bundle, action: Action, pool: Corpus) -> Iterator[Finding]:
    """What a candidate repeats."""
    old, new = pool.prints(parent), pool.prints(candidate)
    sections = likeness(old, new)
    similarity = sum(sections.values()) / len(sections) if sections else 0.0
    limit = COPY[action.projection, action.direction]
    if similarity >= limit:
        evidence = f"{similarity:.2f} alike with its seed ({_told(sections)}), at most {limit:.2f} for {action}"
        yield Finding(AuditCode.NEAR_COPY_PARENT, evidence)
    share = _renamed(parent, candidate)
    if share >= RENAMED[action.projection]:
        evidence = (
            f"{share:.0%} of instruction and solution are the seed's under other names: no parameter changed in kind"
        )
        yield Finding(AuditCode.NAMES_ONLY, evidence)
    yield from _others(parent, candidate, pool)


def _renamed(parent: Bundle, candidate: Bundle) -> float:
    """The smaller share of instruction and solution, the story included, that is the parent's under other names."""
    old, new = prints_of(document_of(parent)), prints_of(document_of(candidate))
    return min(renamed_share(a, b) for a, b in zip(old.words[:2], new.words[:2], strict=True))


def _others(parent: Bundle, candidate: Bundle, pool: Corpus) -> Iterator[Finding]:
    for source, code in (
        (Source.SEED, AuditCode.NEAR_COPY_SEED),
        (Source.CANDIDATE, AuditCode.NEAR_COPY_CANDIDATE),
    ):
        found = [m for m in pool.nearest(candidate, sources=(source,)) if m.id not in (parent.id, candidate.id)]
        if found and found[0].similarity >= OTHER:
            yield Finding(code, f"{_alike(found[0])}, at most {OTHER:.2f}")


def contaminations(candidate: Bundle, pool: Corpus) -> Iterator[Finding]:
    """What a candidate has of evaluation tasks."""
    hit = pool.evaluation_hit(candidate)
    if hit is not None:
        yield Finding(
            AuditCode.EVALUATION_OVERLAP, f"overlaps with the evaluation task {hit.id}: {_told(hit.sections)}"
        )
    mark = pool.canary(candidate)
    if mark is not None:
        yield Finding(AuditCode.CANARY, f"contains the canary {mark} of an evaluation set")


def _alike(match: Match) -> str:
    return f"{match.similarity:.2f} alike with {match.id} ({_told(match.sections)})"


def _told(sections: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:.2f}" for name, value in sections.items())
