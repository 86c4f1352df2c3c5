from __future__ import annotations

import numpy as np
import pytest

from envs_forge.plan.frontier import shifts
from envs_forge.plan.model import ACTIONS, Action, Direction, Projection
from envs_forge.plan.settings import FrontierConfig
from envs_forge.plan.transition.learn import learn
from envs_forge.plan.transition.model import Child, Transition

PRIOR = FrontierConfig()
DEEP = Action(projection=Projection.INCREASE, direction=Direction.IN_DEPTH)
REDUCE = Action(projection=Projection.REDUCE, direction=Direction.IN_DEPTH)


def world(count: int, shifts: dict[str, float], *, kappa: float = 20.0, n: int = 8, seed: int = 0) -> list[Child]:
    """Children of a world in which actions do what `shifts` says."""
    dice = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        action = ACTIONS[dice.integers(len(ACTIONS))]
        theta = float(dice.beta(0.7, 0.7))
        k = int(dice.binomial(n, theta))
        mean = min(max(theta + shifts[str(action)], 0.01), 0.99)
        rate = float(dice.beta(kappa * mean, kappa * (1 - mean)))
        made.append(Child(action, k, n, int(dice.binomial(n, rate)), n, 0.5))
    return made


def truth(increase: float, diversify: float, reduce: float, breadth: float) -> dict[str, float]:
    by = {Projection.INCREASE: increase, Projection.DIVERSIFY: diversify, Projection.REDUCE: reduce}
    return {
        str(action): by[action.projection] * (breadth if action.direction is Direction.IN_BREADTH else 1.0)
        for action in ACTIONS
    }


def test_nothing_measured_leaves_the_prior() -> None:
    learned = learn([], PRIOR)
    assert learned.shift_increase.mean == pytest.approx(-0.25, abs=0.005)
    assert learned.shift_increase.sd == pytest.approx(0.15, abs=0.005)
    assert learned.factor_in_breadth.mean == pytest.approx(0.65, abs=0.01)
    assert learned.children == learned.actions == {}
    assert shifts(learned.frontier(PRIOR)) == pytest.approx(shifts(PRIOR), abs=0.01)


def test_many_children_show_what_actions_really_do() -> None:
    learned = learn(world(300, truth(-0.45, -0.1, 0.1, 1.0)), PRIOR)
    assert learned.shift_increase.mean == pytest.approx(-0.45, abs=0.08)
    assert learned.shift_diversify.mean == pytest.approx(-0.1, abs=0.06)
    assert learned.shift_reduce.mean == pytest.approx(0.1, abs=0.06)
    assert learned.factor_in_breadth.mean > 0.75
    assert all(estimate.sd < 0.5 * estimate.prior_sd for estimate in learned.actions.values())
    assert len(learned.actions) == len(ACTIONS)


def test_an_action_that_is_unlike_its_kin_has_a_shift_of_its_own() -> None:
    """No product says that `reduce` does more in breadth than in depth, and `increase` the other way round."""
    true = truth(-0.2, 0, 0.1, 0.5) | {"reduce/in_breadth": 0.35}
    learned = learn(world(400, true, seed=3), PRIOR)
    for action, shift in true.items():
        assert learned.actions[action].mean == pytest.approx(shift, abs=0.07)
    assert shifts(learned.frontier(PRIOR)) == pytest.approx([learned.actions[str(a)].mean for a in ACTIONS])


@pytest.mark.parametrize("seed", range(3))
def test_the_truth_lies_within_three_deviations(seed: int) -> None:
    learned = learn(world(150, truth(-0.1, 0.05, 0.35, 0.5), seed=seed), PRIOR)
    for estimate, true in (
        (learned.shift_increase, -0.1),
        (learned.shift_diversify, 0.05),
        (learned.shift_reduce, 0.35),
    ):
        assert abs(estimate.mean - true) < 3 * estimate.sd + 0.01


def test_a_few_children_move_little() -> None:
    one = learn([Child(DEEP, 8, 8, 8, 8, 0.75)], PRIOR)
    assert -0.25 < one.shift_increase.mean < -0.1
    assert one.shift_reduce.mean == pytest.approx(learn([], PRIOR).shift_reduce.mean, abs=1e-6)


def test_regression_to_the_mean_is_not_taken_for_an_effect() -> None:
    """Seeds that failed 4 of 4 though their rate is 0.3, children with the same rate: nothing was gained."""
    children = [Child(REDUCE, 0, 4, k, 8, 0.25) for k in (2, 3, 2, 2, 3, 2, 3, 2)]
    plugged_in = sum(child.child_k for child in children) / (8 * len(children))
    assert learn(children, FrontierConfig(shift_reduce=0.0)).shift_reduce.mean < 0.75 * plugged_in


def test_the_order_of_children_does_not_matter() -> None:
    children = world(40, truth(-0.2, 0, 0.2, 0.65))
    first, second = learn(children, PRIOR), learn(children[::-1], PRIOR)
    assert first.shift_increase.mean == pytest.approx(second.shift_increase.mean, abs=1e-9)


def test_what_was_learned_takes_the_place_of_the_prior_and_survives_a_file() -> None:
    learned = learn(world(60, truth(-0.4, 0, 0.2, 0.8)), PRIOR)
    again = Transition.model_validate_json(learned.model_dump_json())
    assert again == learned
    config = again.frontier(FrontierConfig(tau=0.4, factor_in_depth=1.3))
    assert (config.tau, config.factor_in_depth) == (0.4, 1.0)
    assert config.shift_increase == learned.shift_increase.mean
