"""The estimators against brute force, against their definitions, and against simulated truth."""

from __future__ import annotations

import math
import random
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envs_forge.train.estimators import mean_estimate, paired_estimate, pass_at_k, t_quantile

RATES = st.lists(st.floats(0, 1), min_size=2, max_size=30)


@st.composite
def attempts(draw: st.DrawFn) -> tuple[int, int, int]:
    n = draw(st.integers(1, 9))
    return n, draw(st.integers(0, n)), draw(st.integers(1, n))


@given(attempts())
def test_pass_at_k_is_the_share_of_subsets_with_a_success(case: tuple[int, int, int]) -> None:
    n, c, k = case
    subsets = list(combinations(range(n), k))
    assert pass_at_k(n, c, k) == pytest.approx(sum(min(subset) < c for subset in subsets) / len(subsets))


@given(attempts(), st.floats(0, 1))
def test_pass_at_k_is_unbiased(case: tuple[int, int, int], p: float) -> None:
    n, _, k = case
    chances = [math.comb(n, c) * p**c * (1 - p) ** (n - c) for c in range(n + 1)]
    expected = math.fsum(chance * pass_at_k(n, c, k) for c, chance in enumerate(chances))
    assert expected == pytest.approx(1 - (1 - p) ** k, abs=1e-9)


@given(st.integers(1, 9), st.integers(0, 9))
def test_pass_at_1_is_the_rate(n: int, c: int) -> None:
    assert pass_at_k(n, min(c, n), 1) == pytest.approx(min(c, n) / n)


@pytest.mark.parametrize("case", [(3, 4, 1), (3, -1, 1), (3, 1, 4), (3, 1, 0), (0, 0, 1)])
def test_impossible_counts_are_refused(case: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="no Pass@"):
        pass_at_k(*case)


@pytest.mark.parametrize(
    ("q", "freedom", "expected"),
    [(0.975, 1, 12.7062), (0.975, 4, 2.7764), (0.975, 19, 2.0930), (0.95, 30, 1.6973), (0.025, 19, -2.0930)],
)
def test_t_quantiles_are_those_of_the_tables(q: float, freedom: int, expected: float) -> None:
    assert t_quantile(q, freedom) == pytest.approx(expected, abs=1e-4)


@given(RATES)
def test_a_mean_lies_in_its_interval_and_that_in_the_support(values: list[float]) -> None:
    found = mean_estimate(values)
    assert 0 <= found.low <= found.value + 1e-12
    assert found.value - 1e-12 <= found.high <= 1
    assert found.low < found.high
    assert found.units == len(values)


@given(RATES)
def test_without_clusters_the_error_is_the_textbook_one(values: list[float]) -> None:
    mean = sum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
    assert mean_estimate(values).standard_error == pytest.approx(math.sqrt(variance / len(values)), abs=1e-9)


@given(RATES, st.integers(2, 5))
def test_repeating_every_value_in_its_cluster_tells_nothing_new(values: list[float], times: int) -> None:
    repeated = [value for value in values for _ in range(times)]
    labels = [place for place in range(len(values)) for _ in range(times)]
    once, often = mean_estimate(values), mean_estimate(repeated, labels)
    assert often.standard_error == pytest.approx(once.standard_error, abs=1e-9)
    assert often.units == once.units


def test_tasks_that_agree_are_not_certainty() -> None:
    found = mean_estimate([1.0] * 10)
    assert (found.value, found.high) == (1.0, 1.0)
    assert 0.7 < found.low < 0.85
    assert mean_estimate([1.0] * 100).low > found.low


def test_one_task_bounds_nothing() -> None:
    found = mean_estimate([0.5])
    assert (found.low, found.high, found.units) == (0.0, 1.0, 1)


def test_no_values_have_no_mean() -> None:
    with pytest.raises(ValueError, match="no mean"):
        mean_estimate([])


def _covers(task_wise: bool, dice: random.Random) -> bool:
    """Whether the interval of 30 tasks with 8 trials each holds the true mean of Beta(½, ½) difficulties."""
    rates = [dice.betavariate(0.5, 0.5) for _ in range(30)]
    trials = [(task, float(dice.random() < rate)) for task, rate in enumerate(rates) for _ in range(8)]
    labels = [task for task, _ in trials] if task_wise else None
    found = mean_estimate([reward for _, reward in trials], labels)
    return found.low <= 0.5 <= found.high


def test_clustered_intervals_cover_the_truth_and_naive_ones_do_not() -> None:
    dice = random.Random(7)
    clustered = sum(_covers(True, dice) for _ in range(400)) / 400
    naive = sum(_covers(False, dice) for _ in range(400)) / 400
    assert 0.92 <= clustered <= 0.98
    assert naive < 0.75


@given(st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0, 1), min_size=1))
def test_a_side_does_not_differ_from_itself(rates: dict[str, float]) -> None:
    found = paired_estimate(rates, rates)
    assert found is not None
    assert (found.difference.value, found.better, found.worse, found.unpaired) == (0.0, 0, 0, 0)
    assert found.difference.low < 0 < found.difference.high


@settings(max_examples=50)
@given(
    st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0, 1), min_size=1),
    st.dictionaries(st.sampled_from("cdefghij"), st.floats(0, 1), min_size=1),
)
def test_the_comparison_is_antisymmetric(one: dict[str, float], other: dict[str, float]) -> None:
    there, back = paired_estimate(one, other), paired_estimate(other, one)
    if there is None or back is None:
        assert not one.keys() & other.keys()
        return
    assert there.difference.value == pytest.approx(-back.difference.value)
    assert there.difference.low == pytest.approx(-back.difference.high)
    assert (there.better, there.equal) == (back.worse, back.equal)
    assert there.unpaired == len(one.keys() ^ other.keys())


def test_pairing_takes_the_difficulty_of_tasks_out() -> None:
    dice = random.Random(3)
    hard = {str(task): dice.random() * 0.8 for task in range(40)}
    better = {task: rate + 0.1 for task, rate in hard.items()}
    found = paired_estimate(better, hard)
    assert found is not None
    assert found.difference.standard_error < 1e-9
    assert mean_estimate(list(hard.values())).standard_error > 0.02


def test_tasks_of_one_parent_count_once() -> None:
    one = {f"{parent}{child}": float(parent) for parent in range(2) for child in range(10)}
    other = dict.fromkeys(one, 0.0)
    apart = paired_estimate(one, other)
    together = paired_estimate(one, other, clusters={task: task[0] for task in one})
    assert apart is not None
    assert together is not None
    assert (apart.difference.units, together.difference.units) == (20, 2)
    assert together.difference.high - together.difference.low > apart.difference.high - apart.difference.low
