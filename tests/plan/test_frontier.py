from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from envs_forge.plan.frontier import (
    expected_mixed_probability,
    expected_regret,
    frontier_score,
    mixed_probability,
    posterior_mean,
    predict,
    scores,
    shifts,
)
from envs_forge.plan.model import ACTIONS
from envs_forge.plan.settings import FrontierConfig, Scoring

CONFIG = FrontierConfig()
PUBLISHED = [
    (0.747, -0.25, 0.497, 0.9999),
    (1.0, -0.25, 0.75, 0.4578),
    (0.0, 0.25, 0.25, 0.4578),
    (8 / 15, 0.0, 8 / 15, 0.9862),
]
CASES = [(0, 1), (0, 8), (8, 8), (4, 8), (1, 4), (2.5, 4), (7, 40), (300, 1000), (0, 300), (69_999, 70_000)]


def integral(k: float, n: int, function: object, points: int = 60_001) -> float:
    """E[function(θ)] by the midpoint rule on a fine grid, normalised by the beta function."""
    a, b = k + 0.5, n - k + 0.5
    phi = (np.arange(points) + 0.5) * (math.pi / 2 / points)
    theta = np.sin(phi) ** 2
    log_norm = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    log_density = (2 * a - 1) * np.log(np.sin(phi)) + (2 * b - 1) * np.log(np.cos(phi)) - log_norm
    weights = 2 * np.exp(log_density) * (math.pi / 2 / points)
    assert weights.sum() == pytest.approx(1, abs=1e-6)
    return float((weights * function(theta)).sum())  # type: ignore[operator]


def column(projection: str, direction: str) -> int:
    return [str(action) for action in ACTIONS].index(f"{projection}/{direction}")


def test_shifts_are_those_of_the_publication() -> None:
    found = dict(zip(map(str, ACTIONS), shifts(CONFIG).tolist(), strict=True))
    assert found == {
        "increase/in_depth": -0.25,
        "increase/in_breadth": pytest.approx(-0.1625),
        "diversify/in_depth": 0.0,
        "diversify/in_breadth": 0.0,
        "reduce/in_depth": 0.25,
        "reduce/in_breadth": pytest.approx(0.1625),
    }


OWN = FrontierConfig(shifts={"reduce/in_breadth": 0.4, "diversify/in_depth": -0.05})


def test_an_action_may_have_a_shift_of_its_own() -> None:
    changed = {str(action): own for action, own in zip(ACTIONS, shifts(OWN), strict=True)}
    assert (changed["reduce/in_breadth"], changed["diversify/in_depth"]) == (0.4, -0.05)
    assert {**changed, "reduce/in_breadth": 0.1625, "diversify/in_depth": 0.0} == pytest.approx(
        dict(zip(map(str, ACTIONS), shifts(CONFIG), strict=True))
    )
    assert predict(np.array([0.0]), OWN)[0, column("reduce", "in_breadth")] == 0.4


def test_settings_with_shifts_are_keys_like_others() -> None:
    turned = FrontierConfig(shifts=dict(reversed(OWN.shifts.items())))
    assert (turned, hash(turned)) == (OWN, hash(OWN))
    assert len({OWN, CONFIG, turned, FrontierConfig(tau=0.3)}) == 3


@pytest.mark.parametrize("shifts", [{"reduce": 0.1}, {"reduce/in_width": 0.1}, {"reduce/in_depth": 1.5}])
def test_shifts_of_no_action_and_impossible_ones_are_refused(shifts: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="shifts"):
        FrontierConfig.model_validate({"shifts": shifts})


@pytest.mark.parametrize(("rate", "shift", "predicted", "score"), PUBLISHED)
def test_the_published_cases(rate: float, shift: float, predicted: float, score: float) -> None:
    index = shifts(CONFIG).tolist().index(shift)
    row = predict(np.array([rate]), CONFIG)
    assert row[0, index] == pytest.approx(predicted)
    assert frontier_score(row, CONFIG)[0, index] == pytest.approx(score, abs=5e-5)
    plugged = scores(np.array([rate * 15]), np.array([15.0]), CONFIG, Scoring.PLUG_IN)[0]
    assert plugged[index] == plugged.max() == pytest.approx(score, abs=5e-5)


def test_predictions_are_clipped_and_scores_are_a_bell() -> None:
    row = predict(np.array([0.1, 0.9]), CONFIG)
    assert row[0, 0] == 0.0
    assert row[1, column("reduce", "in_depth")] == 1.0
    f = frontier_score(np.linspace(0, 1, 101), CONFIG)
    assert f.argmax() == 50
    assert f[50] == 1.0
    np.testing.assert_allclose(f, f[::-1])
    assert frontier_score(np.array([0.5 + CONFIG.sigma]), CONFIG)[0] == pytest.approx(math.exp(-0.5))


@pytest.mark.parametrize(("k", "n"), CASES)
@pytest.mark.parametrize("config", [CONFIG, FrontierConfig(tau=0.3), OWN])
def test_expected_scores_against_numeric_integration(k: float, n: int, config: FrontierConfig) -> None:
    found = scores(np.array([k]), np.array([float(n)]), config, Scoring.POSTERIOR)[0]
    for index, shift in enumerate(shifts(config)):
        wanted = integral(k, n, lambda t, s=shift: frontier_score(np.clip(t + s, 0, 1), config))
        assert found[index] == pytest.approx(wanted, abs=2e-6)


@pytest.mark.parametrize(("k", "n"), [(0, 8), (4, 8), (1, 4), (40, 100)])
def test_regret_and_mixed_groups_against_numeric_integration(k: float, n: int) -> None:
    ks, ns = np.array([k]), np.array([float(n)])
    regret = expected_regret(ks, ns, CONFIG)[0]
    mixed = expected_mixed_probability(ks, ns, CONFIG, 8)[0]
    for index in range(len(ACTIONS)):

        def lost(theta: np.ndarray, column: int = index) -> np.ndarray:
            f = frontier_score(predict(theta, CONFIG), CONFIG)
            return f.max(axis=1) - f[:, column]

        def even(theta: np.ndarray, column: int = index) -> np.ndarray:
            p = predict(theta, CONFIG)[:, column]
            return 1 - p**8 - (1 - p) ** 8

        assert regret[index] == pytest.approx(integral(k, n, lost), abs=2e-6)
        assert mixed[index] == pytest.approx(integral(k, n, even), abs=2e-6)


def test_moments_of_the_posterior() -> None:
    k, n = np.array([0.0, 3.0, 2.5, 500.0]), np.array([1.0, 8.0, 4.0, 900.0])
    a, b = k + 0.5, n - k + 0.5
    np.testing.assert_allclose(posterior_mean(k, n, CONFIG, lambda t: t), a / (a + b), atol=1e-10)
    second = a * (a + 1) / ((a + b) * (a + b + 1))
    np.testing.assert_allclose(posterior_mean(k, n, CONFIG, lambda t: t * t), second, atol=1e-10)


def test_with_many_rollouts_the_expectation_is_the_plug_in() -> None:
    k, n = np.array([747_000.0, 250_000.0]), np.array([1e6, 1e6])
    expected, plugged = (scores(k, n, CONFIG, scoring) for scoring in (Scoring.POSTERIOR, Scoring.PLUG_IN))
    np.testing.assert_allclose(expected, plugged, atol=5e-4)


@pytest.mark.parametrize("scoring", list(Scoring))
def test_the_directions_of_diversify_tie_to_the_last_bit(scoring: Scoring) -> None:
    rng = np.random.default_rng(1)
    n = rng.integers(1, 60, 300).astype(float)
    k = np.floor(rng.random(300) * (n + 1))
    found = scores(k, n, CONFIG, scoring)
    first, second = column("diversify", "in_depth"), column("diversify", "in_breadth")
    assert (found[:, first] == found[:, second]).all()
    regret = expected_regret(k, n, CONFIG)
    np.testing.assert_array_equal(regret[:, first], regret[:, second])


def test_a_row_does_not_depend_on_its_company() -> None:
    k, n = np.array([0.0, 3.0, 8.0, 3.0]), np.array([4.0, 8.0, 8.0, 8.0])
    together = scores(k, n, CONFIG, Scoring.POSTERIOR)
    for row in range(4):
        alone = scores(k[[row]], n[[row]], CONFIG, Scoring.POSTERIOR)[0]
        np.testing.assert_array_equal(together[row], alone)
    np.testing.assert_array_equal(together[1], together[3])


def test_regret_is_never_negative_and_counts_allowed_actions_only() -> None:
    k, n = np.array([2.0, 2.0, 2.0]), np.array([8.0, 8.0, 8.0])
    allowed = np.ones((3, 6), bool)
    allowed[1] = False
    allowed[2] = [str(action) == "increase/in_depth" for action in ACTIONS]
    found = expected_regret(k, n, CONFIG, allowed)
    assert (found[0] >= 0).all()
    assert found[0].max() > 0.1
    assert (found[1] == 0).all()
    assert found[2, 0] == pytest.approx(0)


def test_regret_falls_as_rollouts_add_up() -> None:
    best = [expected_regret(np.array([r / 2]), np.array([float(r)]), CONFIG)[0].min() for r in (2, 8, 32, 128, 512)]
    assert all(later < earlier for earlier, later in pairwise(best))


def test_groups_of_equal_rewards() -> None:
    assert mixed_probability(np.array([0.0, 1.0]), 8).tolist() == [0.0, 0.0]
    assert mixed_probability(np.array([0.5]), 2)[0] == pytest.approx(0.5)
    assert mixed_probability(np.array([0.5]), 8)[0] == pytest.approx(1 - 2 / 256)
    rng = np.random.default_rng(0)
    rewards = rng.random((200_000, 8)) < 0.2
    share = (rewards.any(axis=1) & ~rewards.all(axis=1)).mean()
    assert mixed_probability(np.array([0.2]), 8)[0] == pytest.approx(share, abs=4e-3)


def test_tau_below_one_half_asks_for_harder_tasks() -> None:
    k, n = np.array([4.0]), np.array([8.0])
    middle = scores(k, n, CONFIG, Scoring.POSTERIOR)[0]
    harder = scores(k, n, FrontierConfig(tau=0.25), Scoring.POSTERIOR)[0]
    assert ACTIONS[int(middle.argmax())].projection == "diversify"
    assert str(ACTIONS[int(harder.argmax())]) == "increase/in_depth"
