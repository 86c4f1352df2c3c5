"""The Beta distribution against closed forms and against values computed elsewhere (SciPy 1.17)."""

import math

import pytest

from envs_forge.rollout.beta import beta_cdf, beta_quantile

QS = [0.001, 0.025, 0.3, 0.5, 0.8, 0.975, 0.9999]


@pytest.mark.parametrize("q", QS)
@pytest.mark.parametrize("b", [0.3, 1.0, 2.5, 40.0])
def test_closed_form_when_the_first_shape_is_one(q, b):
    assert beta_quantile(q, 1.0, b) == pytest.approx(1 - (1 - q) ** (1 / b), rel=1e-11)


@pytest.mark.parametrize("q", QS)
def test_closed_form_of_the_arcsine_law(q):
    assert beta_quantile(q, 0.5, 0.5) == pytest.approx(math.sin(math.pi * q / 2) ** 2, rel=1e-11)


@pytest.mark.parametrize(("a", "b"), [(1, 1), (2, 5), (9, 3), (30, 71)])
@pytest.mark.parametrize("x", [0.01, 0.2, 0.5, 0.77, 0.99])
def test_whole_shapes_are_a_binomial_tail(a, b, x):
    m = a + b - 1
    tail = math.fsum(math.comb(m, j) * x**j * (1 - x) ** (m - j) for j in range(a, m + 1))
    assert beta_cdf(x, a, b) == pytest.approx(tail, rel=1e-11, abs=1e-15)


@pytest.mark.parametrize(
    ("a", "b", "low", "high"),
    [
        (0.5, 8.5, 5.949030289440215e-05, 0.2622172487171857),
        (8.5, 7.5, 0.2938864148804002, 0.761213152040942),
        (8.5, 0.5, 0.7377827512828142, 0.9999405096971056),
        (3.0, 2.0, 0.19412044968324338, 0.932414013511457),
        (747.5, 253.5, 0.719368828994736, 0.7732037789073857),
    ],
)
def test_values_computed_elsewhere(a, b, low, high):
    assert beta_quantile(0.025, a, b) == pytest.approx(low, rel=1e-9)
    assert beta_quantile(0.975, a, b) == pytest.approx(high, rel=1e-9)


def test_outside_the_support_and_at_its_ends():
    assert beta_cdf(-1.0, 2, 3) == 0.0
    assert beta_cdf(2.0, 2, 3) == 1.0
    assert (beta_quantile(0.0, 2, 3), beta_quantile(1.0, 2, 3)) == (0.0, 1.0)


@pytest.mark.parametrize("bad", [(-0.1, 1, 1), (1.1, 1, 1), (0.5, 0, 1), (0.5, 1, -2), (math.nan, 1, 1)])
def test_nonsense_is_refused(bad):
    with pytest.raises(ValueError, match="no quantile"):
        beta_quantile(*bad)
