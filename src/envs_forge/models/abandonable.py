"""Waiting for something that may never return, without being caught in it."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from typing import Any, TypeVar

T = TypeVar("T")


class Abandonable:
    """Runs calls in threads of their own; a deadline or `cancel` ends the waiting, not the call.

    An abandoned call goes on in a daemon thread until its socket gives up, and what it returns is dropped.

    Args:
        cancelled: Makes the exception that waiters get.
    """

    def __init__(self, cancelled: Callable[[], Exception]) -> None:
        self._cancelled = cancelled
        self._lock = threading.Lock()
        self._open: set[Future[Any]] = set()
        self._over = threading.Event()

    def cancel(self) -> None:
        """End all waiting, now and later. Callable from any thread."""
        with self._lock:
            self._over.set()
            waiting = list(self._open)
        for future in waiting:
            with contextlib.suppress(InvalidStateError):
                future.set_exception(self._cancelled())

    def call(self, function: Callable[[], T], timeout_s: float) -> T:
        """What `function` returns or raises.

        Raises:
            TimeoutError: It took longer.
        """
        future: Future[T] = Future()
        with self._lock:
            if self._over.is_set():
                raise self._cancelled()
            self._open.add(future)
        threading.Thread(target=_settle, args=(function, future), daemon=True).start()
        try:
            return future.result(timeout_s)
        finally:
            with self._lock:
                self._open.discard(future)

    def sleep(self, seconds: float) -> None:
        """Wait, unless cancelled."""
        if self._over.wait(seconds):
            raise self._cancelled()

    @property
    def over(self) -> bool:
        """Whether all was cancelled."""
        return self._over.is_set()


def _settle(function: Callable[[], T], future: Future[T]) -> None:
    try:
        result = function()
    except BaseException as error:
        with contextlib.suppress(InvalidStateError):
            future.set_exception(error)
    else:
        with contextlib.suppress(InvalidStateError):
            future.set_result(result)
