from __future__ import annotations

import pytest

from envs_forge.plan.model import Action, Direction, Projection
from envs_forge.plan.settings import FrontierConfig
from envs_forge.plan.transition.figures import ALL, figures, foretold
from envs_forge.plan.transition.model import Child

DEEP = Action(projection=Projection.INCREASE, direction=Direction.IN_DEPTH)
BROAD = Action(projection=Projection.DIVERSIFY, direction=Direction.IN_BREADTH)


def test_figures_by_hand() -> None:
    found = figures([Child(DEEP, 4, 4, 1, 4, 0.75), Child(DEEP, 2, 4, 4, 4, 0.25)])
    assert set(found) == {"increase/in_depth", ALL}
    row = found[ALL]
    assert (row.children, row.rollouts, row.predicted, row.measured) == (2, 8, 0.5, 0.625)
    assert row.error == pytest.approx((0.5 + 0.75) / 2)
    assert row.brier == pytest.approx((1 * 0.0625 + 3 * 0.5625 + 4 * 0.5625) / 8)
    assert row.slope == pytest.approx(-1.5)
    assert row.mixed == 0.5


def test_perfect_predictions() -> None:
    row = figures([Child(DEEP, 4, 4, k, 4, k / 4) for k in range(5)])[ALL]
    assert (row.error, row.slope) == (0.0, pytest.approx(1.0))


def test_what_cannot_be_said_is_not_said() -> None:
    row = figures([Child(BROAD, 1, 1, 1, 1, 0.5), Child(BROAD, 1, 1, 0, 1, 0.5)])[ALL]
    assert (row.slope, row.mixed) == (None, None)
    assert figures([])[ALL].measured is None


def test_what_a_config_would_have_said_is_an_expectation_over_the_seeds_rate() -> None:
    children = [Child(DEEP, 4, 4, 3, 8, 0.75), Child(BROAD, 0, 4, 2, 8, 0.0), Child(DEEP, 4, 4, 1, 8, 0.75)]
    told = foretold(children, FrontierConfig(shifts={"diversify/in_breadth": 0.0, "increase/in_depth": -0.95}))
    assert [child.child_k for child in told] == [3, 2, 1]
    assert told[1].predicted == pytest.approx(0.5 / 5, abs=1e-6)
    # Beta(4½, ½) above 0.95, less 0.95, by the midpoint rule.
    assert told[0].predicted == told[2].predicted == pytest.approx(0.016762, abs=1e-5)
    assert foretold([], FrontierConfig()) == []
