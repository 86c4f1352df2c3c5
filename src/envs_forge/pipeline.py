"""The loop of Envs-FORGE, top to bottom: measure, plan, synthesise, verify, export.

    seeds → pass rates → plan → candidates → gold verification → exactly N environments

Everything that is done is in the ledger before the next thing is begun, under keys that follow from the config alone.
So a run that was killed goes on where it was: what is recorded is not done again, whatever is not is.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from envs_forge.config import RunConfig
from envs_forge.errors import ForgeError
from envs_forge.files import write_json
from envs_forge.ledger.store import Ledger
from envs_forge.plan.model import SeedInput
from envs_forge.run.desk import ModelDesk
from envs_forge.run.digests import Failures, failures
from envs_forge.run.directory import RunDirectory
from envs_forge.run.exporting import export_accepted
from envs_forge.run.given import given, given_plan, is_given
from envs_forge.run.journal import Journal
from envs_forge.run.lock import RunLock, refuse_changes, solver_version
from envs_forge.run.making import Maker
from envs_forge.run.measuring import Rates, is_complete, measure_seeds, recorded_rates, require_counted
from envs_forge.run.parts import Parts
from envs_forge.run.place import NumberedPlan
from envs_forge.run.planning import State, explained, replan, seed_inputs, state_of
from envs_forge.run.progress import Phase, Progress
from envs_forge.run.result import RunResult, run_result
from envs_forge.run.seeds import Seed

log = logging.getLogger(__name__)


class InterruptedRunError(ForgeError):
    """The run was told to stop and did so cleanly."""

    exit_code = 130


@dataclass(frozen=True)
class Run:
    """One session of one run: everything that its stages share."""

    directory: RunDirectory
    config: RunConfig
    seeds: Sequence[Seed]
    parts: Parts
    journal: Journal
    progress: Progress
    stop: threading.Event

    def stop_here(self) -> None:
        """Between two steps: end if that was asked for."""
        if self.stop.is_set():
            left = self.parts.left_behind()
            raise InterruptedRunError(f"interrupted, {left}" if left else "interrupted")


def run(
    directory: RunDirectory,
    config: RunConfig,
    seeds: Sequence[Seed],
    parts: Parts,
    *,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
    command: str = "run",
) -> RunResult:
    """Begin a run, or go on with one, and work until N environments are exported or N cannot be reached.

    Args:
        directory: Where it lies; exists. Whoever calls holds it.
        config: What is wanted.
        seeds: The pool, loaded and checked.
        parts: Sandboxes, policy, generator, verifier. Closed here.
        progress: Counters for a display.
        stop: Set it to end early and cleanly.
        command: What the user typed, for the record.

    Raises:
        InterruptedRunError: `stop` was set; all that was finished is kept.
        UserError: The run began with another config or other parts; or no plan can be made.
        InfrastructureError: The machine failed; resume when it is mended.
    """
    with contextlib.ExitStack() as stack:
        stack.callback(parts.close)
        if not directory.config.exists():
            write_json(directory.config, config.model_dump(mode="json"))
        journal = Journal(stack.enter_context(Ledger.open(directory.ledger)))
        this = Run(directory, config, seeds, parts, journal, progress or Progress(), stop or threading.Event())
        _begin(this, command)
        try:
            _work(this)
        except BaseException:
            with contextlib.suppress(ForgeError, OSError):
                _conclude(this)
            raise
        return _conclude(this)


def _begin(run: Run, command: str) -> None:
    """Record what this session works with, and refuse to mix it with something else."""
    lock = RunLock(
        solver=solver_version(),
        engine=run.parts.engine,
        policy=run.parts.policy,
        generator=run.parts.generator.name if run.config.goal == "environments" else "",
        synthesis=run.parts.identity if run.config.goal == "environments" else {},
        seeds={seed.id: seed.hash for seed in run.seeds},
    )
    first = run.journal.first_session()
    if first is not None:
        refuse_changes(first.payload, run.config, lock, run=run.directory.root.name)
    else:
        write_json(run.directory.lock, lock.model_dump(mode="json"))
    session = run.journal.begin(command, run.config.model_dump(mode="json"), lock.model_dump(mode="json"))
    log.info("session %d of %s: %s with %d seeds", session, run.directory.root, command, len(run.seeds))
    if run.parts.paying():
        desk = ModelDesk(run.journal.ledger, session, run.config.budget, run.stop)
        for part in run.parts.paying():
            part.attach(desk)
        run.progress.spent = desk.spending
    reaped = run.parts.reap()
    if reaped:
        log.info("removed %d things that a dead process had left", reaped)


def _work(run: Run) -> None:
    rates = _measure(run)
    if run.config.goal == "environments":
        began = time.monotonic()
        _make(run, rates)
        run.journal.event("made", seconds=time.monotonic() - began)
        _export(run)


def _measure(run: Run) -> Rates:
    """Pass rates of the seeds. Once there is a plan they are fixed: a later rollout must not change its premises."""
    if is_given(run.config):
        return given(run.config, run.seeds, run.journal)[0]
    if run.journal.plans():
        return recorded_rates(run.seeds, run.journal)
    began = time.monotonic()
    rates = measure_seeds(
        run.seeds,
        run.parts,
        run.journal,
        run.directory,
        config=run.config,
        progress=run.progress,
        stop=run.stop,
    )
    run.stop_here()
    require_counted(rates, run.journal.trials())
    if is_complete(rates) or run.config.goal == "environments":
        run.journal.event("measured", seconds=time.monotonic() - began, seeds=len(rates))
    return rates


def _make(run: Run, rates: Rates) -> None:
    """Plan, fill the places, and plan again for those that were given up, until N are filled or none can be."""
    config, journal = run.config, run.journal
    run.progress.enter(Phase.PLANNING)
    inputs = seed_inputs(run.seeds, rates, run.parts)
    maker = Maker(
        run.parts,
        journal,
        run.directory.candidates,
        run.seeds,
        draws=config.draws,
        repairs=config.repairs,
        retries=config.retries,
        progress=run.progress,
        stop=run.stop,
        failures=_failures(run),
    )
    while True:
        run.stop_here()
        plans = journal.plans()
        state = state_of(plans, journal.decisions(), config.draws)
        if len(state.accepted) == config.plan.size:
            return
        if state.open:
            run.progress.enter(Phase.MAKING, done=len(state.accepted), total=config.plan.size)
            maker.fill(state.open)
            if maker.exhausted is not None:
                journal.event("budget", reached=str(maker.exhausted))
                return
            continue
        run.progress.enter(Phase.PLANNING)
        numbered = _next_plan(run, inputs, len(plans), state)
        if numbered is None:
            return
        journal.add_plan(numbered.number, numbered.plan, numbered.slots)
        write_json(run.directory.plan, explained(numbered.plan, inputs, config.plan, state))
        log.info("plan %d: %d places to fill, method %s", numbered.number, len(numbered.slots), numbered.plan.method)


def _next_plan(run: Run, inputs: Sequence[SeedInput], number: int, state: State) -> NumberedPlan | None:
    """The plan that was handed in, then one that fills what it left open."""
    config = run.config
    if number == 0 and config.planned is not None:
        return given_plan(config.planned, inputs, config.plan.size)
    return replan(inputs, config.plan, number, state, _realised(run.journal, state))


def _failures(run: Run) -> Mapping[str, Failures]:
    """How the failing rollouts on each seed failed."""
    if is_given(run.config):
        return given(run.config, run.seeds, run.journal)[1]
    return failures(run.seeds, run.journal)


def _realised(journal: Journal, state: State) -> dict[int, tuple[str, ...]]:
    found = {slot: journal.made(draw) for slot, (draw, _) in state.accepted.items()}
    return {slot: made.realised for slot, made in found.items() if made is not None}


def _export(run: Run) -> None:
    state = state_of(run.journal.plans(), run.journal.decisions(), run.config.draws)
    run.progress.enter(Phase.EXPORTING)
    short = run.config.plan.size - len(state.accepted)
    if short:
        run.journal.event("short", missing=short)
        log.warning("%d of %d places could not be filled", short, run.config.plan.size)
    if not short or run.config.allow_short:
        export_accepted(state, run.journal, run.directory)


def _conclude(run: Run) -> RunResult:
    run.parts.close()
    run.progress.enter(Phase.ENDED)
    result = run_result(run.config, run.journal)
    write_json(run.directory.result, result.model_dump(mode="json"))
    return result
