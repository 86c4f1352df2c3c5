"""Which skills a pool of tasks covers, and which quotas it could not meet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from envs_forge.config import RunConfig
from envs_forge.plan.model import SeedInput
from envs_forge.plan.skills import NodeType, candidate_skills, load_graph
from envs_forge.run.planning import seed_input
from envs_forge.run.seeds import Seed
from envs_forge.synthesis.registry import make_generator
from envs_forge.synthesis.tagging import SkillSource, TaggedSkills, skills_of_bundle


class SkillCount(BaseModel):
    """How many seeds have a skill, and from how many a candidate that uses it could be made."""

    model_config = ConfigDict(frozen=True)

    skill: str
    type: str
    seeds: int
    reachable: int


class TypeCount(BaseModel):
    """Of one type: skills that some seed has, and all that the graph knows."""

    model_config = ConfigDict(frozen=True)

    covered: int
    known: int


class QuotaCover(BaseModel):
    """A quota, and the most uses that the pool could give whatever its pass rates are."""

    model_config = ConfigDict(frozen=True)

    skill: str
    asked: int
    reachable: int


class Coverage(BaseModel):
    """Skills of a pool.

    Attributes:
        seeds: Tasks looked at.
        sources: Tasks by where their skills come from: `metadata`, `texts`, `none`.
        skills: By type, then by falling number of seeds; those without a seed only where a candidate could bring them.
        types: How much of the graph the seeds cover, by type.
        untagged: Tasks without any skill.
        unknown: Skills in metadata that the graph does not have.
        underivable: Tasks that the generator cannot evolve, counted as reachable with what another could make of them.
        size: N that shares and `uniform` refer to.
        quotas: What was asked for.
    """

    model_config = ConfigDict(frozen=True)

    seeds: int
    sources: dict[str, int]
    skills: tuple[SkillCount, ...]
    types: dict[str, TypeCount]
    untagged: tuple[str, ...]
    unknown: tuple[str, ...]
    underivable: tuple[str, ...]
    size: int
    quotas: tuple[QuotaCover, ...]

    @property
    def unmet(self) -> tuple[QuotaCover, ...]:
        """Quotas beyond what the pool can give."""
        return tuple(quota for quota in self.quotas if quota.asked > quota.reachable)


def coverage(seeds: Sequence[Seed], config: RunConfig) -> Coverage:
    """Look at a pool. Needs neither an engine nor pass rates.

    Raises:
        UserError: Quotas that make no sense.
    """
    graph, own = load_graph(), [skills_of_bundle(seed.bundle) for seed in seeds]
    inputs, underivable = _inputs(seeds, own, config)
    size = config.plan.size if "size" in config.plan.model_fields_set else len(seeds)
    return Coverage(
        seeds=len(seeds),
        sources={source.value: sum(tagged.source is source for tagged in own) for source in SkillSource},
        skills=_counts(own, inputs),
        types=_types(own),
        untagged=tuple(seed.id for seed, tagged in zip(seeds, own, strict=True) if not tagged.skills),
        unknown=graph.unknown(skill for tagged in own for skill in tagged.skills),
        underivable=underivable,
        size=size,
        quotas=_quotas(inputs, config.model_copy(update={"plan": config.plan.model_copy(update={"size": size})})),
    )


def _inputs(
    seeds: Sequence[Seed], own: Sequence[TaggedSkills], config: RunConfig
) -> tuple[list[SeedInput], tuple[str, ...]]:
    """Seeds as the planner would see them, with a rate in the place of the one that nobody measured.

    A task that the generator cannot evolve counts with the candidates that the graph derives for it, so that a pool can
    be looked at whoever is going to write its children. Which tasks these are is the second part of the answer.
    """
    generator, graph = make_generator(config.generator, seed=config.seed, writer=config.writer), load_graph()
    inputs, underivable = [], []
    for seed, tagged in zip(seeds, own, strict=True):
        known = seed_input(seed.id, seed.hash, 0.5, 1, generator.options(seed.bundle))
        if not known.skills:
            underivable.append(seed.id)
            known = seed_input(seed.id, seed.hash, 0.5, 1, candidate_skills(graph, tagged.skills))
        inputs.append(known)
    return inputs, tuple(underivable)


def _counts(own: Sequence[TaggedSkills], inputs: Sequence[SeedInput]) -> tuple[SkillCount, ...]:
    has = Counter(skill for tagged in own for skill in tagged.skills)
    could = Counter(skill for seed in inputs for skill in _candidates(seed))
    kinds = [kind.value for kind in NodeType]
    counts = [
        SkillCount(skill=skill, type=skill.partition("/")[0], seeds=has[skill], reachable=could[skill])
        for skill in {*has, *could}
    ]
    place = {kind: index for index, kind in enumerate(kinds)}
    counts.sort(key=lambda count: (place.get(count.type, len(kinds)), -count.seeds, -count.reachable, count.skill))
    return tuple(counts)


def _types(own: Sequence[TaggedSkills]) -> dict[str, TypeCount]:
    has, graph = {skill for tagged in own for skill in tagged.skills}, load_graph()
    return {
        kind.value: TypeCount(covered=len(has.intersection(graph.of_type(kind))), known=len(graph.of_type(kind)))
        for kind in NodeType
    }


def _candidates(seed: SeedInput) -> set[str]:
    return {skill for candidate in seed.skills.values() for skill in (*candidate.required, *candidate.optional)}


def _quotas(inputs: Sequence[SeedInput], config: RunConfig) -> tuple[QuotaCover, ...]:
    from envs_forge.plan.problem import reachable
    from envs_forge.plan.task import prepare

    if not config.plan.quotas:
        return ()
    task = prepare(inputs, config.plan, (), ())
    most = dict(zip(task.tables.skills, reachable(task.problem).tolist(), strict=True))
    return tuple(
        QuotaCover(skill=skill, asked=asked, reachable=int(most[skill])) for skill, asked in sorted(task.asked.items())
    )
