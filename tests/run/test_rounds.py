from __future__ import annotations

from pathlib import Path

import pytest

from envs_forge.bundle.pool import find_bundles
from envs_forge.bundle.writing import write_bundle
from envs_forge.errors import UserError
from envs_forge.run.rounds import LoopConfig, RoundFigures, adopt, keep_config, reason_to_stop, round_directory
from envs_forge.run.seeds import load_seeds
from pipeline.fakes import bundle


def figures(number: int, *, mixed: int = 5, groups: int = 10, pass_at_1: float | None = None) -> RoundFigures:
    return RoundFigures(
        round=number, parents=1, measured=0.5, environments=1, rollouts=1, groups=groups, mixed=mixed, curve=(),
        pass_at_1=pass_at_1, low=None, high=None,
    )  # fmt: skip


def test_the_last_round_is_the_end() -> None:
    config = LoopConfig(rounds=2)
    assert reason_to_stop([figures(1)], None, config) == ""
    assert reason_to_stop([figures(1), figures(2)], None, config) == "done"


def test_groups_that_teach_nothing_end_it() -> None:
    assert reason_to_stop([figures(1, mixed=0)], None, LoopConfig()) == "0 of 10 groups were mixed"


@pytest.mark.parametrize(("earlier", "now", "stops"), [(0.4, 0.41, True), (0.4, 0.5, False), (None, 0.5, False)])
def test_too_little_gain_ends_it_where_that_was_asked_for(earlier: float | None, now: float, stops: bool) -> None:
    config = LoopConfig(least_gain=0.05)
    assert bool(reason_to_stop([figures(1, pass_at_1=now)], earlier, config)) is stops
    assert not reason_to_stop([figures(1, pass_at_1=now)], earlier, LoopConfig())


def test_gain_is_against_the_round_before() -> None:
    rounds = [figures(1, pass_at_1=0.3), figures(2, pass_at_1=0.31)]
    assert "+0.010" in reason_to_stop(rounds, 0.0, LoopConfig(least_gain=0.05))


def test_environments_of_all_rounds_can_be_parents_at_once(tmp_path: Path) -> None:
    for number in (1, 2):
        place = round_directory(tmp_path, number)
        write_bundle(bundle("000-reduce-x", f"Do {number}.\n"), place.run.export / "tasks")
        adopt(place)
        adopt(place)  # as after a stop in between
    paths = find_bundles([round_directory(tmp_path, number).parents for number in (1, 2)])
    assert [seed.id for seed in load_seeds(paths)] == ["r1-000-reduce-x", "r2-000-reduce-x"]


def test_another_loop_in_the_same_place_is_refused_and_more_rounds_are_not(tmp_path: Path) -> None:
    keep_config(tmp_path, {"loop": {"rounds": 1, "attempts": 4}})
    keep_config(tmp_path, {"loop": {"rounds": 3, "attempts": 4}})
    with pytest.raises(UserError, match=r"begun otherwise: loop\.attempts"):
        keep_config(tmp_path, {"loop": {"rounds": 3, "attempts": 8}})


def test_a_directory_with_something_else_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    with pytest.raises(UserError, match="no loop and not empty"):
        keep_config(tmp_path, {})
