"""Pass@k, means with intervals clustered by task, and paired comparisons: plain numbers in, plain numbers out.

| what | formula | source |
|---|---|---|
| Pass@k of a task with c successes in n | `1 − C(n−c, k) / C(n, k)`, unbiased | Chen et al. 2021, arXiv 2107.03374 |
| standard error over G clusters | `√(G/(G−1) · Σ_g (Σ_{i∈g} (x_i − x̄))²) / N` | Miller 2024, arXiv 2411.00640 |
| paired comparison | the mean of the differences by task, with the same standard error | the same |
| interval | mean ± t_{G−1} · standard error, cut to what the mean can be | Student |

A task is the unit: its trials share its difficulty, so only differences between tasks tell how far a mean would move
with other tasks. No spread is not certainty: where all tasks agree the half-width is the upper limit of a rate of which
0 in G was seen (Jeffreys), and with a single cluster the interval is everything that is possible.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from functools import lru_cache

from pydantic import BaseModel, ConfigDict

from envs_forge.rollout.beta import beta_quantile

CONFIDENCE = 0.95
_RATE = (0.0, 1.0)
_DIFFERENCE = (-1.0, 1.0)


class Estimate(BaseModel):
    """A mean with its interval. `units` counts the clusters that it rests on."""

    model_config = ConfigDict(frozen=True)

    value: float
    low: float
    high: float
    standard_error: float
    """0 where all clusters agree or there is only one; the interval is not empty for that."""
    units: int


class PairedEstimate(BaseModel):
    """How much higher one side is than the other on the tasks that both have.

    `better`, `equal` and `worse` count tasks; `unpaired` counts those that only one side has.
    """

    model_config = ConfigDict(frozen=True)

    difference: Estimate
    better: int
    equal: int
    worse: int
    unpaired: int


def pass_at_k(n: int, c: int, k: int) -> float:
    """Unbiased estimate of the probability that at least one of k attempts succeeds.

    Args:
        n: Attempts made, at least k.
        c: Successes among them.
        k: Attempts allowed, at least 1.

    Raises:
        ValueError: Not 0 ≤ c ≤ n or not 1 ≤ k ≤ n.
    """
    if not (0 <= c <= n and 1 <= k <= n):
        raise ValueError(f"no Pass@{k} of {c} successes in {n} attempts")
    return 1.0 - math.comb(n - c, k) / math.comb(n, k)


def mean_estimate(
    values: Sequence[float],
    clusters: Sequence[Hashable] | None = None,
    *,
    support: tuple[float, float] = _RATE,
    confidence: float = CONFIDENCE,
) -> Estimate:
    """Mean of values and its interval.

    Args:
        values: One number a task, or a trial; not empty.
        clusters: Whose values stand or fall together; default each on its own.
        support: The least and the most that the mean can be.
        confidence: Of the interval.

    Raises:
        ValueError: No values, or not as many cluster labels.
    """
    labels = range(len(values)) if clusters is None else clusters
    if not values or len(labels) != len(values):
        raise ValueError(f"{len(values)} values in {len(labels)} clusters have no mean")
    mean = math.fsum(values) / len(values)
    sums: dict[Hashable, float] = {}
    for label, value in zip(labels, values, strict=True):
        sums[label] = sums.get(label, 0.0) + value - mean
    units = len(sums)
    spread = math.fsum(total * total for total in sums.values())
    error = math.sqrt(units / (units - 1) * spread) / len(values) if units > 1 else 0.0
    half = _half_width(error, units, support, confidence)
    low, high = max(support[0], mean - half), min(support[1], mean + half)
    return Estimate(value=mean, low=low, high=high, standard_error=error, units=units)


def paired_estimate(
    one: Mapping[str, float],
    other: Mapping[str, float],
    *,
    clusters: Mapping[str, Hashable] | None = None,
    confidence: float = CONFIDENCE,
) -> PairedEstimate | None:
    """`one` minus `other` on the tasks that both have; None where they share none.

    Args:
        one: A rate in [0, 1] by task.
        other: The same of the other side.
        clusters: Tasks that stand or fall together, e.g. by their parent; default each on its own.
        confidence: Of the interval.
    """
    shared = sorted(one.keys() & other.keys())
    if not shared:
        return None
    gaps = [one[task] - other[task] for task in shared]
    labels = [clusters.get(task, task) for task in shared] if clusters is not None else None
    return PairedEstimate(
        difference=mean_estimate(gaps, labels, support=_DIFFERENCE, confidence=confidence),
        better=sum(gap > 0 for gap in gaps),
        equal=sum(gap == 0 for gap in gaps),
        worse=sum(gap < 0 for gap in gaps),
        unpaired=len(one.keys() ^ other.keys()),
    )


@lru_cache(maxsize=1024)
def t_quantile(q: float, freedom: int) -> float:
    """The x with P(X ≤ x) = q for Student's t with so many degrees of freedom.

    By `freedom / (freedom + X²) ~ Beta(freedom / 2, ½)`.
    """
    if q < 0.5:
        return -t_quantile(1.0 - q, freedom)
    point = beta_quantile(2.0 * (1.0 - q), freedom / 2.0, 0.5)
    return math.sqrt(freedom * (1.0 - point) / point) if point > 0.0 else math.inf


def _half_width(error: float, units: int, support: tuple[float, float], confidence: float) -> float:
    upper = 0.5 + confidence / 2.0
    if units < 2:
        return support[1] - support[0]
    if error < 1e-12:
        return _never_seen(upper, units)
    return t_quantile(upper, units - 1) * error


@lru_cache(maxsize=1024)
def _never_seen(q: float, units: int) -> float:
    return beta_quantile(q, 0.5, units + 0.5)
