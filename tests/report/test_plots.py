"""Pictures of trainings and loops."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from envs_forge.report import plots
from envs_forge.run.rounds import LoopResult, RoundFigures


def row(number: int, value: float | None, groups: int = 4) -> RoundFigures:
    """A round with so much Pass@1."""
    low, high = (None, None) if value is None else (value - 0.1, value + 0.1)
    return RoundFigures(
        round=number, parents=8, measured=0.5, environments=4, rollouts=40, groups=groups, mixed=groups // 2,
        curve=(0.5,), pass_at_1=value, low=low, high=high,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("rounds", "before"),
    [((row(1, 0.4), row(2, 0.6)), 0.2), ((row(1, None),), None), ((row(1, None, groups=0),), 0.3)],
)
def test_rounds_are_drawn_with_and_without_held_out_tasks(rounds: tuple[RoundFigures, ...], before: float) -> None:
    picture = plots.held_out(LoopResult(rounds=rounds, before=before, stopped="done"))
    assert ElementTree.fromstring(picture).tag.endswith("svg")
    assert picture == plots.held_out(LoopResult(rounds=rounds, before=before, stopped="done"))


def test_what_was_measured_is_in_the_picture() -> None:
    one, other = (plots.held_out(LoopResult(rounds=(row(1, value),), before=0.2, stopped="")) for value in (0.4, 0.6))
    assert one != other
