from __future__ import annotations

import threading
from functools import partial

import pytest

from envs_forge.run.workers import run_jobs


def test_all_jobs_run_and_no_more_at_once_than_allowed() -> None:
    done: list[int] = []
    lock, inside, most = threading.Lock(), [0], [0]
    both = threading.Barrier(2)

    def job(number: int) -> None:
        with lock:
            inside[0] += 1
            most[0] = max(most[0], inside[0])
        if number < 2:
            both.wait(10)
        with lock:
            inside[0] -= 1
            done.append(number)

    run_jobs([partial(job, n) for n in range(10)], workers=2, stop=threading.Event(), abandon=lambda: None)
    assert sorted(done) == list(range(10))
    assert most[0] == 2


def test_the_first_failure_ends_it_and_is_raised() -> None:
    done: list[int] = []

    def job(number: int) -> None:
        if number == 1:
            raise RuntimeError("broken")
        done.append(number)

    with pytest.raises(RuntimeError, match="broken"):
        run_jobs([partial(job, n) for n in range(100)], workers=1, stop=threading.Event(), abandon=lambda: None)
    assert done == [0]


def test_a_stop_abandons_what_is_under_way_and_swallows_its_end() -> None:
    stop, freed = threading.Event(), threading.Event()
    begun: list[int] = []

    def job(number: int) -> None:
        begun.append(number)
        stop.set()
        freed.wait(10)
        raise RuntimeError("its sandbox was taken away")

    run_jobs([partial(job, n) for n in range(9)], workers=2, stop=stop, abandon=freed.set)
    assert freed.is_set()
    assert len(begun) <= 2


def test_no_jobs_are_no_work() -> None:
    run_jobs([], workers=4, stop=threading.Event(), abandon=lambda: None)
