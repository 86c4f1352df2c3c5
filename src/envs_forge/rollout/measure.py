"""Many bundles × many rollouts: how many of each, in which rounds, and the pass rates that come of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence

from envs_forge.bundle.model import Bundle
from envs_forge.rollout.adaptive.allocate import EVERY_ACTION, Allocator, Standing
from envs_forge.rollout.options import MeasureOptions
from envs_forge.rollout.pool import Pool, PoolEntry
from envs_forge.rollout.privileged import AnyPolicy
from envs_forge.rollout.scheduler import Scheduler
from envs_forge.rollout.trial import PassRate, Trial, recounted
from envs_forge.sandbox.runtime import Runtime

__all__ = ["MeasureOptions", "measure"]


def measure(
    runtime: Runtime,
    bundles: Sequence[Bundle],
    policy: AnyPolicy,
    options: MeasureOptions = MeasureOptions(),  # noqa: B008 - frozen
    *,
    known: Iterable[Trial] = (),
    on_trial: Callable[[Trial, Bundle], None] = lambda trial, bundle: None,
    stop: threading.Event | None = None,
    allowed: Callable[[Bundle], Sequence[bool]] = lambda bundle: EVERY_ACTION,
) -> list[PassRate]:
    """Measure a policy on many bundles.

    Rollout 0 of every bundle comes before rollout 1 of any whose image is ready. Bundles of the same content are
    measured once. A bundle that cannot be built, or a machine that fails, costs its own rollouts only.

    Adaptive rollouts come in rounds. What a round asks for follows from the trials of the rounds before it alone, so
    with these as `known` the same is asked for again; further known trials count all the same.

    Args:
        runtime: Where it runs.
        bundles: What to measure on.
        policy: Who is measured.
        options: How.
        known: Trials of earlier runs; those of this policy and these contents are not repeated, and they count.
            Rollouts that ended by a fault of the machine are tried again.
        on_trial: Called with each new trial as it ends, one at a time, from any thread. What it raises ends the
            measurement and is raised here.
        stop: Set it to end early: what is under way is abandoned without a record and `runtime` is closed.
        allowed: Which of the six actions apply to a bundle; adaptive rollouts look at those only.

    Returns:
        One pass rate a bundle, in the order of `bundles`, of what there is.
    """
    stop = stop or threading.Event()
    pool = Pool(bundles, policy.identity, (recounted(trial, options.trial.counted) for trial in known))
    rounds = _Rounds(pool, options, allowed)
    while rounds.ask():
        Scheduler(runtime, pool, policy, options, on_trial, stop).run()
        if stop.is_set():
            break
    return pool.pass_rates()


class _Rounds:
    """Which rollouts are asked for: all at once, or round by round."""

    def __init__(self, pool: Pool, options: MeasureOptions, allowed: Callable[[Bundle], Sequence[bool]]) -> None:
        self._pool = pool
        self._options = options
        self._allocator = Allocator(options.adaptive) if options.adaptive is not None else None
        self._actions = {
            entry.hash: tuple(allowed(entry.bundle)) if self._allocator is not None else EVERY_ACTION
            for entry in pool.entries
        }
        self._begun = False

    def ask(self) -> bool:
        """Raise what is asked of the pool; False when nothing more is."""
        if not self._begun:
            self._begun = True
            first = self._options.adaptive.start if self._options.adaptive is not None else self._options.rollouts
            for entry in self._pool.entries:
                entry.asked = max(first, entry.reused)
            return True
        if self._allocator is None:
            return False
        further = self._allocator.further([self._standing(entry) for entry in self._pool.entries])
        for entry, more in zip(self._pool.entries, further, strict=True):
            entry.asked += more
        return any(further)

    def _standing(self, entry: PoolEntry) -> Standing:
        k, n = entry.score()
        return Standing(key=entry.hash, k=k, n=n, asked=entry.asked, allowed=self._actions[entry.hash])
