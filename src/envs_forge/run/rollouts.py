"""How a config's rollouts are run: how many at once, what counts, where adaptive ones may go."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from envs_forge.bundle.hashing import content_hash
from envs_forge.bundle.model import Bundle
from envs_forge.config import RunConfig
from envs_forge.plan.model import ACTIONS, CandidateSkills
from envs_forge.plan.recipes import mask
from envs_forge.rollout.adaptive.options import AdaptiveOptions
from envs_forge.rollout.options import MeasureOptions
from envs_forge.rollout.policy import PolicyIdentity
from envs_forge.rollout.room import free_memory_mb
from envs_forge.rollout.runner import TrialOptions
from envs_forge.run.parts import Options, cores
from envs_forge.run.reuse import counted_statuses
from envs_forge.run.seeds import Seed

WAITING = 4
"""Rollouts for each core where the policy mostly waits for an endpoint."""


def rollouts_at_once(config: RunConfig, policy: PolicyIdentity) -> int:
    """As configured; else one for each core, and where the policy asks a model as many as keep its endpoint busy.

    While some rollouts are in their sandboxes others must be asking, so there are more of them than requests.
    """
    if config.concurrency is not None:
        return config.concurrency
    if policy.kind != "terminal":
        return cores()
    return config.endpoint.in_flight + cores() if config.endpoint.in_flight is not None else WAITING * cores()


def measure_options(config: RunConfig, policy: PolicyIdentity) -> MeasureOptions:
    """Options of a measurement with the same number of rollouts for every seed."""
    return MeasureOptions(
        rollouts=config.rollouts,
        concurrency=rollouts_at_once(config, policy),
        cores=config.cores or _cores(config, policy),
        memory_mb=config.memory_mb or free_memory_mb(),
        retries=config.retries,
        trial=TrialOptions(counted=counted_statuses(config)),
    )


def _cores(config: RunConfig, policy: PolicyIdentity) -> int:
    """The machine's cores; more where somebody wants more rollouts at once that work all the time."""
    return cores() if policy.kind == "terminal" else max(cores(), config.concurrency or 1)


def adaptive_options(config: RunConfig, seeds: int) -> AdaptiveOptions:
    """How adaptive rollouts on so many seeds are spent: towards the plan that the config asks for."""
    adaptive = config.adaptive
    return AdaptiveOptions(
        start=adaptive.start,
        cap=max(adaptive.cap, adaptive.start),
        budget=adaptive.budget_of(seeds),
        delta=adaptive.delta,
        size=config.plan.size,
        capacity=config.plan.capacity,
        frontier=config.plan.frontier,
    )


def allowed_actions(config: RunConfig, options: Callable[[Seed], Options]) -> Callable[[Bundle], Sequence[bool]]:
    """Which actions apply to a bundle: the recipe's, and where environments are wanted those that the generator can."""
    recipe = mask(config.plan.recipe)
    if config.goal != "environments":
        return lambda bundle: recipe

    def allowed(bundle: Bundle) -> Sequence[bool]:
        own = options(Seed(bundle, content_hash(bundle), Path()))
        return [m and isinstance(own.get(str(a)), CandidateSkills) for m, a in zip(recipe, ACTIONS, strict=True)]

    return allowed
