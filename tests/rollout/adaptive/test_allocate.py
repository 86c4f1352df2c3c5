"""Who gets the next rollouts."""

import random

import numpy as np
import pytest

from envs_forge.plan.settings import FrontierConfig
from envs_forge.rollout.adaptive.allocate import EVERY_ACTION, Allocator, Standing
from envs_forge.rollout.adaptive.options import AdaptiveOptions
from envs_forge.rollout.adaptive.worth import Worth, _beta_binomial

FRONTIER = FrontierConfig()
WORTH = Worth(FRONTIER, np.array(EVERY_ACTION))


def further(standings, **options):
    settings = {"budget": 1000, "size": 2, "batch": 10, "cap": 12, **options}
    return Allocator(AdaptiveOptions(**settings)).further(standings)


def stand(name, k, n, **more):
    return Standing(name, float(k), n, more.pop("asked", n), **more)


def test_chances_are_a_distribution_with_the_right_mean():
    for k, n, more in ((0.0, 4.0, 3), (1.5, 4.0, 5), (8.0, 8.0, 1)):
        chances = _beta_binomial(np.array([k]), np.array([n]), more)[0]
        assert chances.sum() == pytest.approx(1.0)
        assert chances @ np.arange(more + 1) == pytest.approx(more * (k + 0.5) / (n + 1))


@pytest.mark.parametrize(("k", "n", "other"), [(2.0, 4.0, -1.0), (0.0, 3.0, 0.7), (1.0, 6.0, 0.75)])
def test_a_prospect_is_what_enumeration_says(k, n, other):
    gain, number = WORTH.prospects(np.array([k]), np.array([n]), np.array([other]), np.array([3]))
    best = lambda k, n: WORTH.best(np.array([k]), np.array([n]))[0]  # noqa: E731
    now = max(best(k, n), other)
    expected = []
    for more in (1, 2, 3):
        chances = _beta_binomial(np.array([k]), np.array([n]), more)[0]
        later = sum(p * max(best(k + j, n + more), other) for j, p in enumerate(chances))
        expected.append((later - now) / more)
    assert gain[0] == pytest.approx(max(*expected, 0.0), abs=1e-9)
    assert number[0] == int(np.argmax(expected)) + 1 or gain[0] == 0.0


def test_more_knowledge_is_never_expected_to_cost():
    dice = random.Random(1)
    for _ in range(50):
        n = dice.randint(1, 12)
        row = np.array([float(dice.randint(0, n))]), np.array([float(n)]), np.array([dice.random()]), np.array([8])
        assert WORTH.prospects(*row)[0][0] >= 0.0


def test_what_cannot_change_anything_gets_nothing():
    sure = [stand(f"s{i}", 0, 60) for i in range(3)]
    assert further(sure, cap=100) == [0, 0, 0]


def test_rollouts_go_where_the_decision_is_open():
    result = further([stand("open", 2, 4), stand("sure", 0, 12, asked=4), stand("shut", 12, 12, asked=4)], size=3)
    assert result[0] == max(result) > 0


def test_cap_budget_and_batch_are_kept():
    seeds = [stand(f"s{i:02d}", i % 5, 4) for i in range(20)]
    assert sum(further(seeds, batch=7)) == 7
    assert sum(further(seeds, budget=83)) == 3
    assert further(seeds, budget=80) == [0] * 20
    assert further(seeds, cap=4) == [0] * 20
    assert max(further(seeds, cap=5, batch=100)) == 1


def test_delta_stops_a_seed_whose_action_is_settled():
    seeds = [stand("a", 0, 6), stand("b", 3, 6), stand("c", 0, 6)]
    regrets = WORTH.regret(np.array([0.0, 3.0]), np.array([6.0, 6.0]))
    assert regrets[0] < regrets[1]
    stopped = further(seeds, delta=float(regrets.mean()), size=1, batch=100)
    assert stopped[0] == stopped[2] == 0
    assert stopped[1] > 0


def test_a_seed_without_a_counted_rollout_or_without_an_action_gets_none():
    none = (False,) * 6
    assert further([stand("a", 0, 0, asked=3), stand("b", 2, 4, allowed=none), stand("c", 2, 4)], size=1)[:2] == [0, 0]
    assert further([]) == []


def test_the_same_counts_give_the_same_batch_in_any_order():
    seeds = [stand(f"s{i:02d}", i % 5, 4) for i in range(30)]
    first = dict(zip((s.key for s in seeds), further(seeds, size=5), strict=True))
    shuffled = random.Random(4).sample(seeds, len(seeds))
    assert dict(zip((s.key for s in shuffled), further(shuffled, size=5), strict=True)) == first


def test_only_actions_that_apply_count():
    only_diversify = (False, False, True, True, False, False)
    one = Worth(FRONTIER, np.array(only_diversify))
    assert one.regret(np.array([2.0]), np.array([4.0]))[0] == 0.0
    assert one.best(np.array([0.0]), np.array([4.0]))[0] < WORTH.best(np.array([0.0]), np.array([4.0]))[0]
    # One action is no choice, and with N for all there is no rank to change either.
    assert further([stand("a", 2, 4, allowed=only_diversify)], size=1) == [0]


@pytest.mark.parametrize(
    ("size", "bundles", "capacity", "chosen"), [(100, 21, None, 20), (5, 50, None, 5), (6, 50, 2, 3)]
)
def test_how_many_bundles_a_plan_draws_from(size, bundles, capacity, chosen):
    assert AdaptiveOptions(budget=1, size=size, capacity=capacity).chosen_of(bundles) == chosen
