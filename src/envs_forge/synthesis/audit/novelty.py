"""Is a candidate something new: no copy of its seed, of another task, of an evaluation task, nor the seed renamed?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from envs_forge.bundle.model import Bundle
from envs_forge.plan.model import Action, Direction, Projection
from envs_forge.synthesis.audit.model import AuditCode, Finding
from envs_forge.synthesis.audit.rewritten import found_again
from envs_forge.synthesis.overlap.corpus import Corpus, Match, Source
from envs_forge.synthesis.overlap.document import document_of
from envs_forge.synthesis.overlap.prints import likeness, prints_of
from envs_forge.synthesis.overlap.renaming import renaming_of

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
REPEATED = 0.95
"""Likeness of the solution and of the tests, each for itself, from which on a new instruction makes no new task."""


def copies(parent: Bundle, candidate: Bundle, action: Action, pool: Corpus) -> Iterator[Finding]:
    """What a candidate repeats."""
    old, new = pool.prints(parent), pool.prints(candidate)
    sections = likeness(old, new)
    similarity = sum(sections.values()) / len(sections) if sections else 0.0
    limit = COPY[action.projection, action.direction]
    repeated = _repeated(parent, candidate, action.projection, sections, pool)
    if similarity >= limit:
        evidence = f"{similarity:.2f} alike with its seed ({_told(sections)}), at most {limit:.2f} for {action}"
        yield Finding(AuditCode.NEAR_COPY_PARENT, evidence)
    elif repeated and min(repeated.values()) >= REPEATED:
        evidence = f"solution and tests are the seed's whatever the instruction says ({_told(repeated)} of the seed's)"
        yield Finding(AuditCode.NEAR_COPY_PARENT, evidence)
    share = _renamed(parent, candidate, action.projection, pool.common)
    if share >= RENAMED[action.projection]:
        evidence = (
            f"{share:.0%} of instruction and solution are the seed's under other names: no parameter changed in kind"
        )
        yield Finding(AuditCode.NAMES_ONLY, evidence)
    yield from _others(parent, candidate, pool)


def _repeated(
    parent: Bundle, candidate: Bundle, projection: Projection, sections: Mapping[str, float], pool: Corpus
) -> Mapping[str, float]:
    """How much of the seed's solution and tests is there again.

    An increase rightly has all of both and more, so it is the likeness that counts there.
    """
    alike = {name: share for name, share in sections.items() if name != "instruction"}
    if projection is Projection.INCREASE or min(alike.values(), default=0.0) >= REPEATED:
        return alike
    return found_again(parent, candidate, pool.common)


def _renamed(parent: Bundle, candidate: Bundle, projection: Projection, common: frozenset[str]) -> float:
    """The smaller share of instruction and solution, the story included, that is the parent's under other names.

    It is the share of the parent's words, so that idle prose or code beside them does not make it smaller. An increase
    has all of them and adds some: there an addition to the solution counts as new, and where that is small the tests
    have to be the parent's too.
    """
    old, new = prints_of(document_of(parent)), prints_of(document_of(candidate))
    instruction, solution = (renaming_of(a, b) for a, b in zip(old.words[:2], new.words[:2], strict=True))
    if projection is not Projection.INCREASE:
        return min(instruction.found, solution.found)
    share = min(instruction.found, solution.share)
    if share < RENAMED[projection] or min(instruction.share, solution.share) >= RENAMED[projection]:
        return share
    names = {**instruction.names, **solution.names}
    return share if found_again(parent, candidate, common, names)["tests"] >= REPEATED else 0.0


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
