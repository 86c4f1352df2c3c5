"""Equal training: curves are read between their looks, and arms are compared at the shortest training."""

from __future__ import annotations

import pytest

from envs_forge.study.cell import Look
from envs_forge.study.unpaid import gain_at, unpaid

from .test_analysis import CONFIG, cell

CURVE = ((40, 0.2), (60, 0.3), (100, 0.5))


def curved(arm: str, replicate: int, factor: float, measuring: int = 40):
    looks = [Look(rollouts=measuring + spent - 40, pass_at_1=0.2 + factor * (rate - 0.2)) for spent, rate in CURVE]
    changes = {"looks": looks, "base": 0.2, "measuring": measuring, "training": 60}
    return cell("weak", replicate, arm).model_copy(update=changes)


@pytest.mark.parametrize(("rollouts", "gain"), [(0, 0.0), (10, 0.05), (20, 0.1), (40, 0.2), (60, 0.3), (99, 0.3)])
def test_a_curve_is_read_between_its_looks(rollouts: int, gain: float) -> None:
    assert gain_at(curved("forge", 0, 1.0), rollouts) == pytest.approx(gain)


def test_arms_are_compared_at_the_shortest_training_whatever_they_measured() -> None:
    cells = [curved("forge", number, 1.0) for number in range(4)]
    longer = [curved("few-shot", number, 0.5, measuring=0) for number in range(4)]
    cells += [one.model_copy(update={"training": 90}) for one in longer]
    rows = {row.arm: row for row in unpaid(CONFIG, cells, "forge")}
    assert {row.rollouts for row in rows.values()} == {60}
    assert rows["forge"].gain.value == pytest.approx(0.3)
    assert rows["forge"].against is None
    gap = rows["few-shot"].against
    assert gap is not None
    assert gap.difference.value == pytest.approx(0.15)


def test_arms_of_several_rounds_and_untrained_cells_have_no_part() -> None:
    rounds = CONFIG.arms[1].model_copy(update={"rounds": 3})
    config = CONFIG.model_copy(update={"arms": (CONFIG.arms[0], rounds)})
    idle = curved("forge", 1, 1.0).model_copy(update={"training": 0})
    rows = unpaid(config, [curved("forge", 0, 1.0), idle, curved("few-shot", 0, 1.0)], "forge")
    assert [(row.arm, row.gain.units) for row in rows] == [("forge", 1)]
