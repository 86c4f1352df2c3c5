"""Group-relative advantages against their definition."""

from __future__ import annotations

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envs_forge.train.advantages import EPSILON, GroupKind, group_advantages, kind_of

REWARDS = st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=2, max_size=16)


@given(REWARDS)
def test_the_formula(rewards: list[float]) -> None:
    mean, deviation = statistics.fmean(rewards), statistics.stdev(rewards)
    expected = [(reward - mean) / (deviation + EPSILON) for reward in rewards]
    assert group_advantages(rewards) == pytest.approx(expected)
    assert group_advantages(rewards, scaled=False) == pytest.approx([reward - mean for reward in rewards])


@given(REWARDS)
def test_they_sum_to_nothing_and_follow_the_rewards(rewards: list[float]) -> None:
    found = group_advantages(rewards)
    assert sum(found) == pytest.approx(0.0, abs=1e-9)
    assert sorted(range(len(rewards)), key=lambda i: (rewards[i], i)) == sorted(
        range(len(rewards)), key=lambda i: (round(found[i], 9), i)
    )


@pytest.mark.parametrize("reward", [0.0, 0.3, 1.0])
def test_equal_rewards_teach_exactly_nothing(reward: float) -> None:
    assert group_advantages([reward] * 8) == [0.0] * 8


def test_one_rollout_is_no_group() -> None:
    with pytest.raises(ValueError, match="two rollouts"):
        group_advantages([1.0])


@pytest.mark.parametrize(
    ("rewards", "kind"),
    [
        ([0.0, 1.0], GroupKind.MIXED),
        ([0.0, 0.0], GroupKind.ALL_FAILED),
        ([1.0, 1.0], GroupKind.ALL_PASSED),
        ([0.5, 0.5], GroupKind.ALL_EQUAL),
        ([0.0, None], GroupKind.DROPPED),
        ([None, None], GroupKind.DROPPED),
    ],
)
def test_kinds(rewards: list[float | None], kind: GroupKind) -> None:
    assert kind_of(rewards) is kind
