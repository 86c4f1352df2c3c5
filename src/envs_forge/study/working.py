"""The cells of a study, worked on by a few processes; each has its own sandboxes, all share what is kept on disk."""

from __future__ import annotations

import multiprocessing
import signal
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing.synchronize import Event
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Literal

from envs_forge.bundle.hashing import content_hash
from envs_forge.bundle.model import Bundle
from envs_forge.config import RunConfig
from envs_forge.errors import ForgeError, InfrastructureError
from envs_forge.gold.cache import VerdictCache
from envs_forge.gold.options import VerifyOptions
from envs_forge.gold.order import FAST
from envs_forge.gold.verdict import Decision
from envs_forge.gold.verify import verify
from envs_forge.run.parts import open_runtime_for
from envs_forge.sandbox.runtime import Runtime
from envs_forge.study.block import Block, Ground
from envs_forge.study.candidates import Candidates, isolated
from envs_forge.study.cell import CellResult, run_cell
from envs_forge.study.choosing import eligible
from envs_forge.study.config import StudyConfig
from envs_forge.study.directory import HELD_OUT, SEEDS, CellKey, StudyDirectory, grid
from envs_forge.study.pools import Accept, chain_of, make_held_out, make_seeds
from envs_forge.synthesis.procedural.generator import ProceduralGenerator
from envs_forge.train.builtin.learner import TrainingTask
from envs_forge.train.rewards.containers import Containers, Obtain
from envs_forge.train.rewards.source import Rewards, StoppedError
from envs_forge.train.rewards.store import RewardStore

_WATCH_S = 0.2


@dataclass(frozen=True)
class Site:
    """Where a study runs."""

    root: Path
    engine: Literal["auto", "oci", "docker"] = "auto"
    processes: int = 2

    def runtime(self) -> Runtime:
        """The sandboxes of one process."""
        return open_runtime_for(RunConfig(engine=self.engine, network=False))


def make_pools(site: Site, config: StudyConfig, say: Callable[[str], None], stop: threading.Event) -> None:
    """Make and verify the seeds and the held-out tasks, unless they are there.

    Raises:
        StoppedError: `stop` was set; the verdicts that fell are kept.
        InfrastructureError: The machine failed at a verification.
    """
    directory = StudyDirectory(site.root)
    if directory.tasks(SEEDS) is not None and directory.tasks(HELD_OUT) is not None:
        return
    say(f"making {config.seeds} seeds and {config.held_out} held-out tasks")
    with site.runtime() as runtime:
        accept = accepting(runtime, config, VerdictCache(directory.verdicts), stop)
        seeds = directory.tasks(SEEDS)
        if seeds is None:
            seeds = make_seeds(config.seeds, config.seed, accept)
            directory.keep_tasks(SEEDS, seeds)
        directory.keep_tasks(HELD_OUT, make_held_out(config.held_out, config.seed, accept, seeds))


def accepting(runtime: Runtime, config: StudyConfig, cache: VerdictCache, stop: threading.Event) -> Accept:
    """Gold verification as an answer; a machine's fault is none."""
    options = gold_options(config)

    def accept(bundle: Bundle) -> Bundle | None:
        if stop.is_set():
            raise StoppedError("stopped; every verdict is kept")
        verdict = verify(bundle, runtime, options, cache=cache)
        if verdict.decision is Decision.ERROR:
            raise InfrastructureError(f"the machine failed at {bundle.id}: {verdict.stage}/{verdict.code}")
        return isolated(bundle, verdict) if verdict.decision is Decision.ACCEPTED else None

    return accept


def gold_options(config: StudyConfig) -> VerifyOptions:
    """How the study verifies."""
    return VerifyOptions(stages=FAST if config.verification == "fast" else ())


def missing(site: Site, config: StudyConfig) -> list[CellKey]:
    """Cells that are not there yet, in the order of the grid."""
    directory = StudyDirectory(site.root)
    return [key for key in grid(config) if not directory.cell(key).is_file()]


def work(
    site: Site,
    config: StudyConfig,
    keys: Sequence[CellKey],
    on_cell: Callable[[CellResult], None],
    stop: threading.Event,
) -> None:
    """Run cells. All arms of one regime, reader and replicate are one process's, which keeps what they share.

    Raises:
        StoppedError: `stop` was set.
        InfrastructureError: The machine failed in one of them; the others end their cell first.
    """
    context = multiprocessing.get_context("spawn")
    ended = context.Event()
    blocks: dict[tuple[str, str, int], list[str]] = {}
    for regime, reader, replicate, arm in keys:
        blocks.setdefault((regime, reader, replicate), []).append(arm)
    with ProcessPoolExecutor(min(site.processes, len(blocks)), context, _start, (site, config, ended)) as pool:
        waiting = {pool.submit(_run_block, block) for block in blocks.items()}
        directory, unseen = StudyDirectory(site.root), list(keys)
        try:
            while waiting:
                done, waiting = wait(waiting, _WATCH_S, FIRST_COMPLETED)
                for future in done:
                    future.result()
                there = [key for key in unseen if directory.cell(key).is_file()]
                unseen = [key for key in unseen if key not in there]
                for key in there:
                    on_cell(directory.read_cell(key))
                if stop.is_set():
                    ended.set()
        except BrokenProcessPool as error:
            raise InfrastructureError("a process of the study was killed") from error
        finally:  # the processes end by themselves: they heed no signal, and must leave no sandbox behind
            ended.set()
            pool.shutdown(cancel_futures=True)
    if stop.is_set():
        raise StoppedError("stopped; every finished cell is kept")


@dataclass
class _Process:
    """What one process works with."""

    site: Site
    config: StudyConfig
    ground: Ground
    ended: Event


_here: list[_Process | ForgeError] = []


def _start(site: Site, config: StudyConfig, ended: Event) -> None:
    """Open a process's own sandboxes. Signals are the parent's to heed.

    An error is kept for the first block: what is raised here would only make the pool start another process.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    try:
        _here.append(_opened(site, config, ended))
    except ForgeError as error:
        _here.append(error)


def _opened(site: Site, config: StudyConfig, ended: Event) -> _Process:
    runtime = site.runtime()
    Finalize(None, runtime.close, exitpriority=10)  # a process of a pool runs no other exit handlers
    ground = lay_ground(site.root, config, runtime, Containers(runtime), _Flag(ended))
    return _Process(site, config, ground, ended)


class _Flag(threading.Event):
    """An event between processes, as code that knows threads asks for it."""

    def __init__(self, event: Event) -> None:
        super().__init__()
        self._event = event

    def is_set(self) -> bool:
        return self._event.is_set()


def lay_ground(
    root: Path, config: StudyConfig, runtime: Runtime, obtain: Obtain, stop: threading.Event, *, workers: int = 1
) -> Ground:
    """Everything that the cells of a study share in one process."""
    directory = StudyDirectory(root)
    seeds, held_out = directory.tasks(SEEDS) or [], directory.tasks(HELD_OUT) or []
    generator = ProceduralGenerator(seed=config.seed)
    options = gold_options(config)
    cache = VerdictCache(directory.verdicts)
    rewards = Rewards(obtain, RewardStore(directory.rewards), workers=workers, engine=runtime.engine.name, stop=stop)
    tasks = [TrainingTask(bundle, content_hash(bundle)) for bundle in seeds]
    able = {task.hash: generator.options(task.bundle) for task in tasks}
    return Ground(
        config=config,
        seeds=[task for task in tasks if eligible(able[task.hash])],
        held_out=[TrainingTask(bundle, content_hash(bundle)) for bundle in held_out],
        options=able,
        candidates=Candidates(
            directory.candidates,
            generator,
            lambda bundle: verify(bundle, runtime, options, cache=cache),
            {chain_of(bundle) for bundle in held_out},
        ),
        rewards=rewards,
    )


def _run_block(block: tuple[tuple[str, str, int], list[str]]) -> None:
    (regime, reader, replicate), arms = block
    process = _here[0]
    if isinstance(process, ForgeError):
        raise process
    config, directory = process.config, StudyDirectory(process.site.root)
    shared = Block(
        process.ground,
        next(part for part in config.regimes if part.name == regime),
        next(part for part in config.readers if part.name == reader),
        replicate,
    )
    for arm in (part for part in config.arms if part.name in arms):
        if process.ended.is_set():
            break
        try:
            directory.keep_cell(run_cell(shared, arm))
        except StoppedError:
            break
