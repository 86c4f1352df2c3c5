"""A study on disk: kept, gone on with, and not mixed with another."""

from __future__ import annotations

from pathlib import Path

import pytest

from envs_forge.errors import UserError
from envs_forge.plan.settings import FrontierConfig
from envs_forge.study.config import ArmConfig, ReaderConfig, StudyConfig, load_study
from envs_forge.study.directory import HELD_OUT, SEEDS, StudyDirectory, grid

from .small import CONFIG, pools
from .test_analysis import CONFIG as ANALYSED
from .test_analysis import cell

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_a_study_may_grow_but_not_change(tmp_path: Path) -> None:
    directory = StudyDirectory(tmp_path)
    directory.begin(CONFIG)
    more = (*CONFIG.arms, ArmConfig(name="tau-0.3", frontier=FrontierConfig(tau=0.3)))
    directory.begin(CONFIG.model_copy(update={"arms": more, "replicates": 5}))
    elsewhere = CONFIG.arms[2].model_copy(update={"only": ("saturated",)})
    directory.begin(CONFIG.model_copy(update={"arms": (*CONFIG.arms[:2], elsewhere)}))
    for change, key in (
        ({"size": 2}, "size"),
        ({"learner": CONFIG.learner.model_copy(update={"rate": 1.0})}, "learner.rate"),
        ({"arms": (ArmConfig(name="forge", frontier=FrontierConfig(tau=0.3)),)}, "arms.forge"),
    ):
        with pytest.raises(UserError, match=key):
            directory.begin(CONFIG.model_copy(update=change))


def test_an_arm_that_was_left_out_does_not_come_back_as_another(tmp_path: Path) -> None:
    directory = StudyDirectory(tmp_path)
    directory.begin(CONFIG)
    directory.begin(CONFIG.model_copy(update={"arms": CONFIG.arms[:1]}))
    with pytest.raises(UserError, match=r"arms\.no-reduce"):
        directory.begin(
            CONFIG.model_copy(update={"arms": (ArmConfig(name="no-reduce", frontier=FrontierConfig(tau=0.3)),)})
        )


def test_other_directories_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").touch()
    with pytest.raises(UserError, match="no study"):
        StudyDirectory(tmp_path).begin(CONFIG)


def test_tasks_come_back_in_their_order(tmp_path: Path) -> None:
    directory = StudyDirectory(tmp_path)
    assert directory.tasks(SEEDS) is None
    for name, bundles in zip((SEEDS, HELD_OUT), pools(), strict=True):
        directory.keep_tasks(name, list(bundles))
        found = directory.tasks(name)
        assert found is not None
        assert [bundle.instruction for bundle in found] == [bundle.instruction for bundle in bundles]


def test_cells_come_back_and_what_is_missing_is_known(tmp_path: Path) -> None:
    directory = StudyDirectory(tmp_path)
    kept = [cell("weak", 0, "forge"), cell("strong", 1, "few-shot")]
    for result in kept:
        directory.keep_cell(result)
    assert directory.cells(ANALYSED) == kept
    assert sum(not directory.cell(key).is_file() for key in grid(ANALYSED)) == 2 * 12 * 4 - 2


def test_the_grid_is_whole_after_every_replicate() -> None:
    keys = list(grid(ANALYSED))
    assert len(set(keys)) == len(keys) == 2 * 12 * 4
    assert {key[2] for key in keys[:8]} == {0}


def test_readers_that_take_turns_meet_one_replicate_each() -> None:
    config = CONFIG.model_copy(
        update={"in_turn": True, "replicates": 3, "readers": (ReaderConfig(name="a"), ReaderConfig(name="b"))}
    )
    assert {(reader, replicate) for _, reader, replicate, _ in grid(config)} == {("a", 0), ("b", 1), ("a", 2)}


def test_the_sensitivity_study_fits_into_the_directory_of_the_study(tmp_path: Path) -> None:
    directory = StudyDirectory(tmp_path)
    for name in ("study.toml", "study-sensitivity.toml", "study.toml"):
        directory.begin(load_study(EXAMPLES / name))


@pytest.mark.parametrize("name", ["study.toml", "study-quick.toml"])
def test_the_examples_are_as_the_study_is_meant(name: str) -> None:
    config = load_study(EXAMPLES / name)
    assert config.pool >= 1.5 * config.size
    names = {arm.name for arm in config.arms}
    fixed = {
        f"{recipe}-{way}" for recipe in ("few-shot", "self-instruct", "evol-instruct") for way in ("blind", "masked")
    }
    assert {"forge", *fixed} <= names
    assert {regime.name for regime in config.regimes} == {"saturated", "broad"}
    if name == "study.toml":
        assert config.replicates >= 20
        assert len(config.readers) >= 3


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"pool": 2}, "pool"),
        ({"pool": 99}, "pool"),
        ({"arms": CONFIG.arms * 2}, "twice"),
        ({"size": 0}, "size"),
        ({"arms": [{"name": "a", "only": ["medium", "narrow"]}]}, "reader: narrow"),
        ({"claims": ["forge", "learned"]}, "not there: learned"),
        ({"rollouts": 1, "arms": [{"name": "a", "rollouts": 2}]}, "no room"),
    ],
)
def test_impossible_studies_are_refused(change: dict[str, object], word: str) -> None:
    with pytest.raises(ValueError, match=word):
        StudyConfig.model_validate(CONFIG.model_dump() | change)


def test_a_mistake_in_a_file_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text("size = 3\nunknown = 1\n")
    with pytest.raises(UserError) as caught:
        load_study(tmp_path / "study.toml")
    assert "unknown" in str(caught.value)
    assert "\n" not in str(caught.value)
