"""Many bundles → verdicts, several at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from envs_forge.bundle.model import Bundle
from envs_forge.errors import UserError
from envs_forge.gold.cache import VerdictCache
from envs_forge.gold.inspection import machine_error
from envs_forge.gold.options import VerifyOptions
from envs_forge.gold.order import select
from envs_forge.gold.reasons import Reason
from envs_forge.gold.stages import schema
from envs_forge.gold.verdict import Verdict
from envs_forge.gold.verify import unreadable, verify, verify_directory
from envs_forge.sandbox.runtime import Runtime

_WATCH_S = 0.1
_GRACE_S = 1.0


def verify_many(
    bundles: Sequence[Bundle | Path],
    runtime: Runtime,
    options: VerifyOptions = VerifyOptions(),  # noqa: B008 - frozen
    *,
    concurrency: int = 2,
    cache: VerdictCache | None = None,
    on_verdict: Callable[[Verdict, Bundle | Path], None] = lambda verdict, bundle: None,
    stop: threading.Event | None = None,
) -> list[Verdict]:
    """Verify many bundles; one that is broken, or a machine that fails, costs only its own verdict.

    Args:
        bundles: Bundles, or directories that are read when their turn comes.
        runtime: Where their containers run.
        options: How.
        concurrency: Bundles at once; where there are fewer of them, sandboxes.
        cache: Where earlier verdicts are taken from and new ones kept.
        on_verdict: Called with each verdict as it falls, one at a time, from any thread. What it raises ends the
            batch and is raised here.
        stop: Set it to end early: what is under way is abandoned without a verdict and `runtime` is closed.

    Returns:
        The verdicts that fell, in the order of `bundles`.

    Raises:
        UserError: The options name a stage that does not exist.
    """
    select(options.stages)
    return _Batch(bundles, runtime, options, cache, on_verdict, stop or threading.Event()).run(concurrency)


class _Batch:
    """One call of `verify_many`."""

    def __init__(
        self,
        bundles: Sequence[Bundle | Path],
        runtime: Runtime,
        options: VerifyOptions,
        cache: VerdictCache | None,
        on_verdict: Callable[[Verdict, Bundle | Path], None],
        stop: threading.Event,
    ) -> None:
        self._bundles = bundles
        self._runtime = runtime
        self._options = options
        self._cache = cache
        self._on_verdict = on_verdict
        self._stop = stop
        self._workers = 1
        self._places = iter(range(len(bundles)))
        self._verdicts: dict[int, Verdict] = {}
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._failure: BaseException | None = None

    def run(self, concurrency: int) -> list[Verdict]:
        self._workers = max(1, concurrency // max(1, len(self._bundles)))
        threads = [threading.Thread(target=self._guarded, daemon=True) for _ in range(concurrency)]
        for thread in threads:
            thread.start()
        try:
            while any(thread.is_alive() for thread in threads) and not (self._stop.is_set() or self._failure):
                _join_any(threads, _WATCH_S)
        finally:
            self._finish(threads)
        if self._failure is not None:
            raise self._failure
        return [self._verdicts[place] for place in sorted(self._verdicts)]

    def _finish(self, threads: list[threading.Thread]) -> None:
        with self._lock:
            self._ended.set()
        deadline = time.monotonic() + _GRACE_S
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        if any(thread.is_alive() for thread in threads):
            self._runtime.close()
        for thread in threads:
            thread.join()

    def _guarded(self) -> None:
        try:
            self._work()
        except BaseException as error:
            self._failure = self._failure or error

    def _judge(self, bundle: Bundle | Path) -> Verdict:
        if isinstance(bundle, Path):
            try:
                return verify_directory(bundle, self._runtime, self._options, cache=self._cache, workers=self._workers)
            except UserError as error:  # gone or not readable since it was listed: the batch goes on
                gone = machine_error(schema.NAME, Reason.GONE, str(error))
                return unreadable(bundle.name, gone, self._runtime, self._options)
        return verify(bundle, self._runtime, self._options, cache=self._cache, workers=self._workers)

    def _work(self) -> None:
        while True:
            with self._lock:
                place = None if self._ended.is_set() else next(self._places, None)
            if place is None:
                return
            bundle = self._bundles[place]
            verdict = self._judge(bundle)
            with self._lock:
                if self._ended.is_set():
                    return
                self._verdicts[place] = verdict
                self._on_verdict(verdict, bundle)


def _join_any(threads: Sequence[threading.Thread], timeout_s: float) -> None:
    """Wait a little for the first thread that still runs."""
    for thread in threads:
        if thread.is_alive():
            thread.join(timeout_s)
            return
