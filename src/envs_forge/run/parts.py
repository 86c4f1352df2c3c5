"""What a run works with: sandboxes, the policy, the generator, the verifier. Made from the config in one place.

The loop sees only this bundle of callables, so that its tests can put small fakes in their place.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from envs_forge.bundle.model import Bundle
from envs_forge.config import AskedModel, RunConfig
from envs_forge.errors import UserError
from envs_forge.plan.model import ACTIONS, CandidateSkills
from envs_forge.rollout.policy import PolicyIdentity
from envs_forge.rollout.trial import PassRate, Trial
from envs_forge.run.budget import require_prices, require_time
from envs_forge.run.checks import Failed, band_check, make_auditor, overlap_check
from envs_forge.run.seeds import Seed
from envs_forge.synthesis.desk import Paying

if TYPE_CHECKING:
    from envs_forge.gold.verdict import Verdict
    from envs_forge.sandbox.runtime import Runtime
    from envs_forge.synthesis.audit.model import Finding
    from envs_forge.synthesis.generator import Assignment, Generator
    from envs_forge.synthesis.llm.judge import ModelJudge


WRITING = 16
"""Places worked on at once where a model writes: its endpoint is the bottleneck, not the sandboxes."""
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


class Auditor(Protocol):
    """Holds candidates against their action and against what they must not repeat."""

    def check(self, parent: Bundle, candidate: Bundle, assignment: Assignment) -> Sequence[Finding]:
        """What speaks against a candidate, the most telling first."""
        ...

    def accept(self, candidate: Bundle) -> None:
        """From now on nothing may be a near copy of this one."""
        ...


class OpinionLike(Protocol):
    """What a judge says: `code` is empty where it has nothing against a candidate."""

    @property
    def code(self) -> str:
        """Reason code."""
        ...

    @property
    def reason(self) -> str:
        """In words."""
        ...

    def model_dump(self, *, mode: str) -> dict[str, Any]:
        """As JSON values."""
        ...


class Judge(Protocol):
    """A model's opinion on verified candidates."""

    rejects: bool

    def opinion(self, assignment: Assignment, parent: Bundle, candidate: Bundle) -> OpinionLike:
        """Ask; see `synthesis.llm.judge`."""
        ...


def anything_goes(rate: PassRate, predicted: float) -> Failed | None:
    """No band: every measured rate will do."""
    return None


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
        in_flight: Places worked on at once; None: as many as sandboxes.
        make_auditor: Makes what checks candidates before verification, of the parents; None does not check.
        judge: Gives an opinion after it; None does not.
        remeasure: Runs the policy on verified candidates; None does not.
        in_band: Why a measured rate will not do.
        identity: What decides the outcome of synthesis beside the config, for the lock.
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
    in_flight: int | None = None
    make_auditor: Callable[[Sequence[Bundle]], Auditor] | None = None
    judge: Judge | None = None
    remeasure: Measure | None = None
    in_band: Callable[[PassRate, float], Failed | None] = anything_goes
    identity: Mapping[str, Any] = field(default_factory=dict)

    def paying(self) -> list[Paying]:
        """What asks models in this run."""
        asked: tuple[object, ...] = (self.generator, self.judge)
        return [part for part in asked if isinstance(part, Paying)]

    def left_behind(self) -> str:
        """What did not stop though it was told to, in words; empty where everything did."""
        from envs_forge.synthesis.plugin import PlugIn

        return self.generator.left_behind if isinstance(self.generator, PlugIn) else ""


def remembered_options(
    generator: Generator, overlap: Callable[[Bundle], str] | None = None
) -> Callable[[Seed], Options]:
    """`generator.options` of seeds, each worked out once. A seed that overlaps evaluation tasks has none."""
    known: dict[str, Options] = {}

    def options(seed: Seed) -> Options:
        if seed.hash not in known:
            risk = overlap(seed.bundle) if overlap is not None else ""
            known[seed.hash] = {str(a): risk for a in ACTIONS} if risk else generator.options(seed.bundle)
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
    from envs_forge.rollout.measure import measure
    from envs_forge.rollout.policies.make import make_policy
    from envs_forge.run.rollouts import adaptive_options, allowed_actions, measure_options
    from envs_forge.synthesis.plugin import PlugIn
    from envs_forge.synthesis.registry import make_generator

    policy = make_policy(
        config.policy, model=config.model, endpoint=config.endpoint, agent=config.agent, harbor=config.harbor
    )
    generator = make_generator(config.generator, seed=config.seed, writer=config.writer)
    judge = _judge(config)
    _check_money(config)
    overlap = overlap_check(config)
    runtime = open_runtime_for(config)
    workers = config.concurrency or cores()
    gold = VerifyOptions(stages=FAST if config.verification == "fast" else ())
    own_options = remembered_options(generator, overlap)
    options = measure_options(config, policy.identity)
    again = options.model_copy(update={"rollouts": max(1, config.remeasure), "concurrency": 1})

    def measure_child(
        bundles: Sequence[Bundle],
        *,
        known: Iterable[Trial],
        on_trial: Callable[[Trial, Bundle], None],
        stop: threading.Event,
    ) -> list[PassRate]:
        return measure(runtime, bundles, policy, again, known=known, on_trial=on_trial, stop=stop)

    def measure_policy(
        bundles: Sequence[Bundle],
        *,
        known: Iterable[Trial],
        on_trial: Callable[[Trial, Bundle], None],
        stop: threading.Event,
    ) -> list[PassRate]:
        adaptive = adaptive_options(config, len(bundles)) if config.adaptive.enabled else None
        return measure(
            runtime,
            bundles,
            policy,
            options.model_copy(update={"adaptive": adaptive}),
            known=known,
            on_trial=on_trial,
            stop=stop,
            allowed=allowed_actions(config, own_options),
        )

    def close() -> None:
        for part in (generator, judge):
            if isinstance(part, Paying):
                part.cancel()
        runtime.close()
        if isinstance(generator, PlugIn):
            generator.abandon()  # last: it may wait, and sandboxes are to be gone whatever comes of it

    return Parts(
        engine=runtime.engine.name,
        workers=workers,
        policy=policy.identity,
        generator=generator,
        options=own_options,
        measure=measure_policy,
        verify=lambda bundle: verify(bundle, runtime, gold),
        reap=runtime.engine.reap,
        close=close,
        in_flight=config.in_flight or (WRITING if isinstance(generator, Paying) else workers),
        make_auditor=make_auditor(config),
        judge=judge,
        remeasure=measure_child if config.remeasure else None,
        in_band=band_check(config.band),
        identity=getattr(generator, "identity", {}),
    )


def _judge(config: RunConfig) -> ModelJudge | None:
    if config.judge.model is None:
        return None
    from envs_forge.synthesis.llm.judge import ModelJudge

    return ModelJudge(config.judge)


def _check_money(config: RunConfig) -> None:
    """A model must be named, a cap on money must be able to fire, and one on time must leave room for one request."""
    if config.generator == "llm" and config.writer.model is None:
        raise UserError("the generator llm needs a model", fix="give --generator-model MODEL")
    check_caps(config)
    if config.band is not None and not config.remeasure:
        raise UserError("a band needs measured pass rates", fix="give --remeasure N")


def check_caps(config: RunConfig) -> None:
    """Refuse caps that could never fire, or leave no room for one request.

    Raises:
        UserError: With the fix.
    """
    asked: list[tuple[str, AskedModel]] = [("generator", config.writer)] if config.generator == "llm" else []
    asked += [("judge", config.judge)] if config.judge.model is not None else []
    for role, settings in asked:
        require_prices(config.budget, known=settings.price.cost(1, 1) is not None, role=role)
        require_time(config.budget, settings.endpoint.timeout_s)
