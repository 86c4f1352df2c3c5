"""Runs jobs in threads: so many at once, the first failure ends it, a stop from outside too."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable

_WATCH_S = 0.1


def run_jobs(
    jobs: Iterable[Callable[[], None]],
    *,
    workers: int,
    stop: threading.Event,
    abandon: Callable[[], None],
) -> None:
    """Run every job, in order of their start, at most `workers` at once.

    Args:
        jobs: What to do.
        workers: Threads.
        stop: When it is set no further job is begun, and `abandon` is called.
        abandon: Makes the jobs under way end soon; what they raise afterwards does not count.

    Raises:
        BaseException: What the first failing job raised; jobs under way end first, no other is begun.
    """
    todo: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
    for job in jobs:
        todo.put(job)
    failures: list[BaseException] = []
    threads = [
        threading.Thread(target=_work, args=(todo, stop, failures), daemon=True)
        for _ in range(min(workers, todo.qsize()))
    ]
    for thread in threads:
        thread.start()
    abandoned = False
    while any(thread.is_alive() for thread in threads):
        if stop.wait(_WATCH_S / 4) and not abandoned:
            abandoned = True
            abandon()
        for thread in threads:
            thread.join(_WATCH_S / len(threads))
    if failures and not stop.is_set():
        raise failures[0]


def _work(todo: queue.SimpleQueue[Callable[[], None]], stop: threading.Event, failures: list[BaseException]) -> None:
    while not stop.is_set() and not failures:
        try:
            job = todo.get_nowait()
        except queue.Empty:
            return
        try:
            job()
        except BaseException as error:
            failures.append(error)
