"""One round of rollouts: fair order, images built ahead, nothing lost, nothing counted twice."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from envs_forge.bundle.model import Bundle
from envs_forge.rollout.options import MeasureOptions
from envs_forge.rollout.policies.cancel import cancel_policy
from envs_forge.rollout.pool import RETRIED, Pool, PoolEntry
from envs_forge.rollout.privileged import AnyPolicy
from envs_forge.rollout.room import Room
from envs_forge.rollout.runner import TrialDraft, machine_fault, run_trial
from envs_forge.rollout.trial import Trial, TrialStatus
from envs_forge.rollout.workqueue import WorkQueue
from envs_forge.sandbox.images.model import BuildFault
from envs_forge.sandbox.runtime import Prepared, Runtime

_WATCH_S = 0.1
_GRACE_S = 1.0


@dataclass(frozen=True, slots=True)
class _Job:
    """One rollout, and which of this measurement's tries at it comes next, from 1."""

    entry: PoolEntry
    index: int
    tries: int = 1


class Scheduler:
    """Runs the rollouts that a pool asks for: builders feed the queue, workers empty it, the caller's thread watches.

    Args:
        runtime: Where it runs.
        pool: What is missing, and where trials are kept.
        policy: Who is measured.
        options: How.
        on_trial: Told of each trial, one at a time. What it raises ends the round and is raised by `run`.
        stop: Ends it early.
    """

    def __init__(
        self,
        runtime: Runtime,
        pool: Pool,
        policy: AnyPolicy,
        options: MeasureOptions,
        on_trial: Callable[[Trial, Bundle], None],
        stop: threading.Event,
    ) -> None:
        self._runtime = runtime
        self._policy = policy
        self._options = options
        self._on_trial = on_trial
        self._stop = stop
        self._todo = pool.unfinished()
        self._core = threading.BoundedSemaphore(options.cores or options.concurrency)
        self._room = Room(options.memory_mb)
        self._builds = iter(self._todo)
        self._queue: WorkQueue[_Job] = WorkQueue()
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._failure: BaseException | None = None

    def run(self) -> None:
        """Start the threads, wait for them, and end them early where that is asked for."""
        options = self._options
        self._queue.expect(sum(len(entry.missing()) for entry in self._todo))
        roles = [self._build] * options.builders + [self._work] * options.concurrency
        threads = [threading.Thread(target=self._guarded, args=(role,), daemon=True) for role in roles]
        for thread in threads:
            thread.start()
        try:
            while any(thread.is_alive() for thread in threads) and not (self._stop.is_set() or self._failure):
                self._queue.join(_WATCH_S)
        finally:
            self._finish(threads)
        if self._failure is not None:
            raise self._failure

    def _finish(self, threads: list[threading.Thread]) -> None:
        """Let finished threads go; abandon what is still under way."""
        with self._lock:
            self._ended.set()
        self._queue.close()
        self._room.close()
        if self._queue.open > 0:
            cancel_policy(self._policy)
            deadline = time.monotonic() + _GRACE_S
            for thread in threads:
                thread.join(max(0.0, deadline - time.monotonic()))
            if any(thread.is_alive() for thread in threads):
                self._runtime.close()
        for thread in threads:
            thread.join()

    def _guarded(self, role: Callable[[], None]) -> None:
        try:
            role()
        except BaseException as error:
            self._failure = self._failure or error
            self._queue.close()

    def _build(self) -> None:
        while not self._ended.is_set():
            with self._lock:
                entry = next(self._builds, None)
            if entry is None:
                return
            self._prepare(entry)

    def _prepare(self, entry: PoolEntry) -> None:
        missing = entry.missing()
        outcome = entry.prepared or self._built(entry)
        if isinstance(outcome, Prepared):
            entry.prepared = outcome
            for index in missing:
                self._queue.put(_Job(entry, index), (0, index, entry.position))
            return
        status, error = outcome
        for index in missing:
            draft = TrialDraft(entry.bundle, entry.hash, self._policy, index, entry.next_retry(index))
            self._record(entry, draft.end(status, error=error))
            self._queue.done()

    def _built(self, entry: PoolEntry) -> Prepared | tuple[TrialStatus, str]:
        """The image, or the status and error of every rollout that needed it."""
        for tries in range(1, self._options.retries + 2):
            try:
                outcome = self._runtime.prepare(entry.bundle)
            except Exception as error:
                status, text = machine_fault(error)
            else:
                if isinstance(outcome, BuildFault):
                    return TrialStatus.BUILD_ERROR, f"{outcome.code}: {outcome.message}\n{outcome.log_tail}".strip()
                return outcome
            if tries <= self._options.retries and self._ended.wait(self._options.pause(tries)):
                break
        return status, text

    def _work(self) -> None:
        while (job := self._queue.take()) is not None:
            self._run(job)

    def _run(self, job: _Job) -> None:
        entry, options = job.entry, self._options
        assert entry.prepared is not None
        with self._room.place(entry.prepared.spec.limits.memory_mb) as inside:
            if not inside:
                return
            trial = run_trial(
                self._runtime,
                entry.prepared,
                self._policy,
                index=job.index,
                retry=entry.next_retry(job.index),
                bundle_hash=entry.hash,
                options=options.trial,
                core=self._core,
            )
        self._record(entry, trial)
        if trial.status in RETRIED and job.tries <= options.retries:
            again = _Job(entry, job.index, job.tries + 1)
            # Behind all others: what spoilt it may be over by then, and must not hold up what can be measured.
            self._queue.put(again, (job.tries, job.index, entry.position), delay_s=options.pause(job.tries))
        else:
            self._queue.done()

    def _record(self, entry: PoolEntry, trial: Trial) -> None:
        """Keep a trial and hand it on; not one that ended after the measurement was broken off."""
        with self._lock:
            if not self._ended.is_set():
                entry.trials.append(trial)
                self._on_trial(trial, entry.bundle)
