"""Trials → pass rates. A rate never travels without its `n`, and a machine's fault never becomes a 0."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from envs_forge.errors import InvariantError
from envs_forge.rollout.beta import beta_quantile
from envs_forge.rollout.identity import TrialKey, trial_key
from envs_forge.rollout.trial import JUDGED, PassRate, Trial

CONFIDENCE = 0.95


def jeffreys_interval(k: float, n: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Equal-tailed interval of Beta(k + ½, n − k + ½), the posterior of a rate under Jeffreys' prior.

    Args:
        k: Sum of rewards, 0 ≤ k ≤ n; need not be whole.
        n: Counted trials; 0 gives the prior's own interval.
        confidence: Mass inside.
    """
    tail = (1.0 - confidence) / 2.0
    a, b = k + 0.5, n - k + 0.5
    return beta_quantile(tail, a, b), beta_quantile(1.0 - tail, a, b)


def _checked_reward(trial: Trial) -> float:
    reward = trial.reward
    if reward is None or not math.isfinite(reward) or not 0.0 <= reward <= 1.0:
        raise InvariantError(f"trial {trial.index} of {trial.bundle_id} is {trial.status} with reward {reward}")
    return reward


def pass_rate(bundle_id: str, bundle_hash: str, trials: Iterable[Trial]) -> PassRate:
    """Pass rate of one policy on one bundle.

    The same try given twice counts once. Of several tries at one index the counted one enters `n`; every try that
    does not count enters `invalid`. What counts is what has a reward.

    Args:
        bundle_id: Name for people; trials of the same content under another name count too.
        bundle_hash: Content hash that every trial must have.
        trials: In any order.

    Raises:
        InvariantError: Trials of other bundles or of several policies, a counted trial without a proper reward, or
            two counted tries at one index.
    """
    tries = {(trial_key(trial), trial.retry): trial for trial in trials}
    if any(key[0] != bundle_hash for key, _ in tries) or len({key[1] for key, _ in tries}) > 1:
        raise InvariantError(f"the pass rate of {bundle_id} mixes bundles or policies")
    counted: dict[TrialKey, float] = {}
    invalid = 0
    for (key, _), trial in tries.items():
        if not trial.counted and trial.status not in JUDGED:
            invalid += 1
        elif key in counted:
            raise InvariantError(f"rollout {trial.index} of {bundle_id} was counted twice")
        else:
            counted[key] = _checked_reward(trial)
    return _summary(bundle_id, bundle_hash, list(counted.values()), list(tries.values()), invalid)


def _summary(
    bundle_id: str, bundle_hash: str, rewards: Sequence[float], trials: Sequence[Trial], invalid: int
) -> PassRate:
    k, n = math.fsum(rewards), len(rewards)
    low, high = jeffreys_interval(k, n)
    return PassRate(
        bundle_id=bundle_id,
        bundle_hash=bundle_hash,
        k=k,
        n=n,
        invalid=invalid,
        rate=k / n if n else None,
        low=low,
        high=high,
        statuses=dict(sorted(Counter(trial.status.value for trial in trials).items())),
        reused=sum(bool(trial.reused_from) for trial in trials),
    )
