from __future__ import annotations

import pytest

from envs_forge.run import progress as module
from envs_forge.run.progress import Phase, Progress, clock


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    moment = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: moment[0])
    return moment


def test_the_line_of_making(now: list[float]) -> None:
    progress = Progress()
    now[0] += 4
    progress.enter(Phase.MAKING, done=2, total=20)
    for _ in range(3):
        progress.begin()
    progress.count(10)
    progress.reject("oracle")
    progress.reject("build")
    now[0] += 60
    assert progress.line() == (
        "verified 12/20 · in flight 3 · rejected 2 (build 1, oracle 1) · elapsed 1:04 · left 0:48"
    )
    progress.count(-1)
    progress.end()
    assert progress.line().startswith("verified 11/20 · in flight 2 ·")
    progress.enter(Phase.ENDED)
    assert progress.line() == "verified 11/20 · rejected 2 (build 1, oracle 1) · elapsed 1:04"


def test_the_line_of_measuring(now: list[float]) -> None:
    progress = Progress()
    progress.enter(Phase.MEASURING, done=10, total=40)
    assert progress.line() == "measured 10/40 rollouts · elapsed 0:00"
    progress.count(10)
    progress.spoil()
    now[0] += 5
    assert progress.line() == "measured 20/40 rollouts · not counted 1 · elapsed 0:05 · left 0:10"


def test_other_phases_have_a_name_and_no_forecast(now: list[float]) -> None:
    progress = Progress()
    assert progress.line() == "starting · elapsed 0:00"
    progress.enter(Phase.EXPORTING)
    assert progress.line() == "exporting · elapsed 0:00"


@pytest.mark.parametrize(("seconds", "text"), [(0, "0:00"), (59.9, "0:59"), (61, "1:01"), (3661, "1:01:01")])
def test_clock(seconds: float, text: str) -> None:
    assert clock(seconds) == text
