"""Cells in processes of their own, with real sandboxes, gold verification and rewards."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from envs_forge.study.cell import CellResult
from envs_forge.study.config import StudyConfig
from envs_forge.study.directory import StudyDirectory
from envs_forge.study.working import Site, make_pools, missing, work
from envs_forge.train.rewards.source import StoppedError
from envs_forge.train.rewards.store import RewardStore

from .small import CONFIG

pytestmark = [pytest.mark.engine, pytest.mark.slow]

TINY = StudyConfig.model_validate(
    CONFIG.model_dump()
    | {"size": 2, "seeds": 4, "pool": 3, "held_out": 2, "arms": CONFIG.arms[:2], "looks": 1}
    | {"learner": {"group": 2, "batch": 2}}
)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study whose pools are made."""
    root = tmp_path_factory.mktemp("study")
    StudyDirectory(root).begin(TINY)
    make_pools(Site(root), TINY, lambda text: None, threading.Event())
    return root


def without_time(cells: list[CellResult]) -> list[CellResult]:
    return [cell.model_copy(update={"seconds": 0.0}) for cell in cells]


def test_a_stopped_study_goes_on_and_two_processes_give_what_one_gives(root: Path) -> None:
    stop = threading.Event()
    site, directory = Site(root, processes=2), StudyDirectory(root)
    keys = missing(site, TINY)
    assert len(keys) == 4
    with pytest.raises(StoppedError):
        work(site, TINY, keys, lambda cell: stop.set(), stop)
    left = missing(site, TINY)
    assert len(left) < 4
    work(site, TINY, left, lambda cell: None, threading.Event()) if left else None
    cells = directory.cells(TINY)
    assert [cell.accepted for cell in cells] == [2] * 4
    for cell in cells:
        directory.cell((cell.regime, cell.reader, cell.replicate, cell.arm)).unlink()
    work(Site(root, processes=1), TINY, missing(site, TINY), lambda cell: None, threading.Event())
    assert without_time(directory.cells(TINY)) == without_time(cells)
    with RewardStore(directory.rewards) as store:
        assert len(store) > 0
        assert store.audited()[1] == []
