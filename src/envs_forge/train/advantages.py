"""Group-relative advantages: what each rollout of a group was worth against the others.

    A_i = (r_i − mean(r)) / (std(r) + ε)        std with G − 1 in the denominator, ε = 1e-4

as in GRPO with outcome rewards (Shao et al. 2024, arXiv 2402.03300, section 4.1.2), with the standard deviation and the
ε of TRL. Without scaling it is the numerator alone (Liu et al. 2025, arXiv 2503.20783). A group whose rewards are all
equal has no advantages and teaches nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum

EPSILON = 1e-4


class GroupKind(StrEnum):
    """What the rewards of a group are like."""

    MIXED = "mixed"
    ALL_FAILED = "all-failed"
    ALL_PASSED = "all-passed"
    ALL_EQUAL = "all-equal"
    """Equal and in between: partial rewards."""
    DROPPED = "dropped"
    """A rollout has no reward, whatever the retries: the group takes no part, as nothing may stand in for a reward."""


def kind_of(rewards: Sequence[float | None]) -> GroupKind:
    """The kind of a group; `rewards` is not empty."""
    if any(reward is None for reward in rewards):
        return GroupKind.DROPPED
    if len(set(rewards)) > 1:
        return GroupKind.MIXED
    return {0.0: GroupKind.ALL_FAILED, 1.0: GroupKind.ALL_PASSED}.get(rewards[0] or 0.0, GroupKind.ALL_EQUAL)


def group_advantages(rewards: Sequence[float], *, scaled: bool = True, epsilon: float = EPSILON) -> list[float]:
    """Advantages of the rollouts of one group; exactly 0 where all rewards are equal.

    Args:
        rewards: Of at least two rollouts of one task.
        scaled: Whether they are divided by the standard deviation.
        epsilon: Keeps that division finite.

    Raises:
        ValueError: Fewer than two rewards.
    """
    if len(rewards) < 2:
        raise ValueError("a group needs two rollouts at least")
    if len(set(rewards)) == 1:
        return [0.0] * len(rewards)
    mean = math.fsum(rewards) / len(rewards)
    gaps = [reward - mean for reward in rewards]
    if not scaled:
        return gaps
    deviation = math.sqrt(math.fsum(gap * gap for gap in gaps) / (len(rewards) - 1))
    return [gap / (deviation + epsilon) for gap in gaps]
