"""Failed tests point at steps; a reduction keeps what the policy gets right about half the time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envs_forge.plan.model import Action
from envs_forge.synthesis.procedural.actions import ranked_edits
from envs_forge.synthesis.procedural.blame import LEAST, distance, step_chances
from envs_forge.synthesis.procedural.composition import Use
from envs_forge.synthesis.procedural.dice import Dice

BREADTH = Action.model_validate({"projection": "reduce", "direction": "in_breadth"})
THREE = tuple(Use(operation=name) for name in ("filter_rows", "dedupe_rows", "top_k"))


def left(failed: dict[str, float]) -> list[str]:
    """Operations that stay after the best reduction in breadth."""
    best = ranked_edits(THREE, BREADTH, Dice(3), turn=0, required=(), optional=(), failed=failed)[0]
    return [use.operation for use in best.uses]


def test_the_step_that_fails_is_stripped() -> None:
    assert left({"1. rows kept": 1.0}) == ["dedupe_rows", "top_k"]
    assert left({"2. distinct rows: newest": 1.0}) == ["filter_rows", "top_k"]
    assert left({"3. top rows": 1.0, "3. top rows: ties": 0.5}) == ["filter_rows", "dedupe_rows"]


def test_as_many_steps_go_as_fail() -> None:
    assert left({"1. rows kept": 1.0, "2. distinct rows": 1.0}) == ["top_k"]


def test_what_fails_half_the_time_is_what_is_wanted() -> None:
    assert left({"1. rows kept": 1.0, "2. distinct rows": 0.5}) in (["dedupe_rows"], ["dedupe_rows", "top_k"])


@pytest.mark.parametrize("failed", [{}, {"test_outputs.py::test_it": 1.0}, {"9. not there": 1.0}])
def test_names_that_say_nothing_change_nothing(failed: dict[str, float]) -> None:
    plain = ranked_edits(THREE, BREADTH, Dice(3), turn=0, required=(), optional=())
    told = ranked_edits(THREE, BREADTH, Dice(3), turn=0, required=(), optional=(), failed=failed)
    assert {edit.uses for edit in told} == {edit.uses for edit in plain}
    assert failed or told == plain


def test_other_actions_do_not_look() -> None:
    deep = Action.model_validate({"projection": "increase", "direction": "in_depth"})
    edits = [
        ranked_edits(THREE, deep, Dice(3), turn=0, required=(), optional=(), failed=failed)
        for failed in (None, {"1. rows kept": 1.0})
    ]
    assert edits[0] == edits[1]


NAMES = st.text(max_size=12) | st.builds("{}. {}".format, st.integers(0, 2000), st.text(max_size=5))


@given(st.dictionaries(NAMES, st.floats(0, 1), max_size=6), st.integers(1, 5))
def test_chances_are_chances_whatever_tests_are_called(failed: dict[str, float], steps: int) -> None:
    chances = step_chances(failed, steps)
    assert len(chances) == steps
    assert all(LEAST <= chance <= 1 - LEAST for chance in chances)
    assert 0 <= distance(chances, (0,)) <= 0.5
