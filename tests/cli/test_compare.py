from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from envs_forge.cli import comparing
from envs_forge.errors import InfrastructureError
from envs_forge.study.block import Block
from envs_forge.study.cell import CellResult, run_cell
from envs_forge.study.config import StudyConfig
from envs_forge.study.directory import CellKey, StudyDirectory
from envs_forge.study.working import Site
from envs_forge.train.rewards.source import StoppedError
from study.small import ground

from .conftest import Forge

STUDY = """\
size = 3
seeds = 8
pool = 5
held_out = 4
replicates = 1
rollouts = 2
attempts = 2
looks = 1
learner = { group = 4, batch = 2 }
regimes = [{ name = "saturated", saturated = 0.6, passes = 1 }]
readers = [{ name = "medium" }]
arms = [{ name = "forge" }, { name = "few-shot", recipe = "few-shot", arm = "blind" }]
"""


def work_here(
    site: Site,
    config: StudyConfig,
    keys: Sequence[CellKey],
    on_cell: Callable[[CellResult], None],
    stop: threading.Event,
) -> None:
    """The cells in this process and without containers."""
    block = Block(ground(site.root / "candidates", config), config.regimes[0], config.readers[0], 0)
    for arm in (arm for key in keys for arm in config.arms if arm.name == key[3]):
        result = run_cell(block, arm)
        StudyDirectory(site.root).keep_cell(result)
        on_cell(result)


@pytest.fixture(autouse=True)
def fakes(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "study.toml").write_text(STUDY)
    monkeypatch.setattr(comparing, "make_pools", lambda site, config, say, stop: None)
    monkeypatch.setattr(comparing, "work", work_here)
    monkeypatch.setattr(comparing, "can_plot", lambda: False)


def test_a_study_is_run_and_shown(forge: Forge, here: Path) -> None:
    said = forge("compare", "-c", "study.toml", "-o", "mine")
    assert said.code == 0, said.err
    assert "2 of 2 cells" in said.out
    assert "| forge |" in said.out
    assert "forge minus the best fixed recipe (few-shot): " in said.out
    assert "cell 2/2 · saturated/medium/0/few-shot · held-out " in said.err
    assert (here / "mine" / "results" / "study.md").read_text() in said.out
    assert (here / "mine" / "results" / "study.json").is_file()
    assert "matplotlib" in said.err


def test_cells_by_and_by_and_never_twice(forge: Forge, monkeypatch: pytest.MonkeyPatch) -> None:
    first = forge("compare", "-c", "study.toml", "-o", "mine", "--cells", "1", "-q", "--json")
    assert (first.code, first.json["cells"], first.json["of_cells"], first.err) == (1, 1, 2, "")
    second = forge("compare", "-c", "study.toml", "-o", "mine", "-q", "--json")
    assert (second.code, second.json["cells"]) == (0, 2)
    monkeypatch.setattr(comparing, "work", None)
    third = forge("compare", "-c", "study.toml", "-o", "mine", "-q", "--json")
    assert third.json == second.json


def test_another_study_in_its_place_is_refused(forge: Forge, here: Path) -> None:
    forge("compare", "-c", "study.toml", "-o", "mine", "--cells", "0", "-q")
    (here / "study.toml").write_text(STUDY.replace("size = 3", "size = 2"))
    said = forge("compare", "-c", "study.toml", "-o", "mine", "-q")
    assert (said.code, said.out) == (2, "")
    assert "size" in said.err


@pytest.mark.parametrize(("error", "code"), [(StoppedError("stopped"), 130), (InfrastructureError("disk"), 1)])
def test_what_ends_it_early_says_how_to_go_on(
    forge: Forge, monkeypatch: pytest.MonkeyPatch, error: Exception, code: int
) -> None:
    def broken(*arguments: object) -> None:
        raise error

    monkeypatch.setattr(comparing, "work", broken)
    said = forge("compare", "-c", "study.toml", "-o", "mine", "-q")
    assert said.code == code
    assert "the same command goes on" in said.err


def test_a_missing_file_is_one_line(forge: Forge) -> None:
    said = forge("compare", "-c", "none.toml", "-o", "mine")
    assert (said.code, said.out) == (2, "")
    assert "none.toml" in said.err
