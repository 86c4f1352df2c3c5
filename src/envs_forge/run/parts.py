"""What a run works with: sandboxes, the policy, the generator, the verifier. Made from the config in one place.

The loop sees only this bundle of callables, so that its tests can put small fakes in their place.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from envs_forge.bundle.model import Bundle
from envs_forge.config import RunConfig
from envs_forge.plan.model import CandidateSkills
from envs_forge.rollout.policy import PolicyIdentity
from envs_forge.rollout.trial import PassRate, Trial
from envs_forge.run.seeds import Seed

if TYPE_CHECKING:
    from envs_forge.gold.verdict import Verdict
    from envs_forge.sandbox.runtime import Runtime
    from envs_forge.synthesis.generator import Generator


Options = Mapping[str, CandidateSkills | str]
"""For each action the skills of its candidate, or why it cannot apply."""


class Measure(Protocol):
    """Runs the rollouts of bundles that `known` lacks; see `rollout.measure.measure`."""

    def __call__(
        self,
        bundles: Sequence[Bundle],
        *,
        known: Iterable[Trial],
        on_trial: Callable[[Trial, Bundle], None],
        stop: threading.Event,
    ) -> list[PassRate]:
        """Pass rates in the order of `bundles`."""
        ...


@dataclass(frozen=True)
class Parts:
    """The parts of one run.

    Attributes:
        engine: Name of the sandbox engine.
        workers: Sandboxes at work at once.
        policy: Who is measured.
        generator: Who writes candidates.
        options: What the generator can do with a seed, worked out once for each.
        measure: Runs rollouts.
        verify: Gold verification of one bundle.
        reap: Removes what dead processes left behind.
        close: Ends everything that is under way and frees it. Idempotent.
    """

    engine: str
    workers: int
    policy: PolicyIdentity
    generator: Generator
    options: Callable[[Seed], Options]
    measure: Measure
    verify: Callable[[Bundle], Verdict]
    reap: Callable[[], int]
    close: Callable[[], None]


def remembered_options(generator: Generator) -> Callable[[Seed], Options]:
    """`generator.options` of seeds, each worked out once."""
    known: dict[str, Options] = {}

    def options(seed: Seed) -> Options:
        if seed.hash not in known:
            known[seed.hash] = generator.options(seed.bundle)
        return known[seed.hash]

    return options


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def open_runtime_for(config: RunConfig) -> Runtime:
    """The sandboxes that a config asks for.

    Raises:
        PrerequisiteError: No engine can run here.
    """
    from envs_forge.sandbox.images.registry import RegistryPolicy
    from envs_forge.sandbox.runtime import Caps, open_runtime

    return open_runtime(
        config.engine,
        caps=Caps(**config.caps.model_dump(), network=config.network),
        base_images=config.base_images,
        registry=RegistryPolicy(config.registry),
    )


def open_parts(config: RunConfig) -> Parts:
    """Make everything that a run needs. Names are checked before the engine is started.

    Raises:
        UserError: There is no such policy or generator.
        PrerequisiteError: No engine can run here.
    """
    from envs_forge.gold.options import VerifyOptions
    from envs_forge.gold.order import FAST
    from envs_forge.gold.verify import verify
    from envs_forge.rollout.measure import MeasureOptions, measure
    from envs_forge.rollout.policies.make import make_policy
    from envs_forge.synthesis.registry import make_generator

    policy = make_policy(config.policy, model=config.model, endpoint=config.endpoint, agent=config.agent)
    generator = make_generator(config.generator, seed=config.seed)
    runtime = open_runtime_for(config)
    workers = config.concurrency or cores()
    gold = VerifyOptions(stages=FAST if config.verification == "fast" else ())
    options = MeasureOptions(rollouts=config.rollouts, concurrency=workers, retries=config.retries)

    def measure_policy(
        bundles: Sequence[Bundle],
        *,
        known: Iterable[Trial],
        on_trial: Callable[[Trial, Bundle], None],
        stop: threading.Event,
    ) -> list[PassRate]:
        return measure(runtime, bundles, policy, options, known=known, on_trial=on_trial, stop=stop)

    return Parts(
        engine=runtime.engine.name,
        workers=workers,
        policy=policy.identity,
        generator=generator,
        options=remembered_options(generator),
        measure=measure_policy,
        verify=lambda bundle: verify(bundle, runtime, gold),
        reap=runtime.engine.reap,
        close=runtime.close,
    )
