"""Conducts a session of a run for `run`, `measure` and `resume`: signals, log, display, the way on after a stop."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from pathlib import Path

from envs_forge.cli.console import note
from envs_forge.cli.display import Display
from envs_forge.cli.livetable import live_rows
from envs_forge.config import RunConfig
from envs_forge.errors import ForgeError, InfrastructureError, InvariantError
from envs_forge.pipeline import InterruptedRunError, run
from envs_forge.redaction import redact
from envs_forge.run.directory import RunDirectory, new_run
from envs_forge.run.given import is_given, require_given
from envs_forge.run.interruption import heeded
from envs_forge.run.parts import Parts, open_parts
from envs_forge.run.planning import usable_seeds
from envs_forge.run.progress import Progress
from envs_forge.run.result import RunResult
from envs_forge.run.seeds import Seed, load_seeds, select_paths


def seeds_of(config: RunConfig) -> list[Seed]:
    """The pool that a config names, loaded and checked."""
    paths = select_paths(config.seeds, include=config.include, exclude=config.exclude, limit=config.limit)
    return load_seeds(paths)


def begin(config: RunConfig, *, output: str | None, quiet: bool, command: str) -> tuple[RunDirectory, RunResult]:
    """Begin a run. Everything that can be wrong with the input is found before its directory is made."""
    seeds = seeds_of(config)
    parts = open_parts(config)
    with contextlib.ExitStack() as stack:
        stack.callback(parts.close)
        pool = pool_of(config, seeds, parts, quiet=quiet)
        if is_given(config):
            require_given(config, pool, parts)
        directory = new_run(Path(output) if output is not None else None)
        stack.enter_context(directory.hold())
        return directory, conduct(directory, config, pool, parts, quiet=quiet, command=command)


def go_on(directory: RunDirectory, config: RunConfig, *, quiet: bool) -> RunResult:
    """Go on with a run whose directory the caller holds."""
    seeds = seeds_of(config)
    parts = open_parts(config)
    with contextlib.ExitStack() as stack:
        stack.callback(parts.close)
        pool = pool_of(config, seeds, parts, quiet=quiet)
        return conduct(directory, config, pool, parts, quiet=quiet, command="resume")


def pool_of(config: RunConfig, seeds: list[Seed], parts: Parts, *, quiet: bool) -> list[Seed]:
    """The seeds that take part: for environments those that the generator can evolve, with a word about the others."""
    if config.goal != "environments":
        return seeds
    usable, reasons = usable_seeds(seeds, parts)
    if reasons and not quiet:
        name, reason = next(iter(reasons.items()))
        note(f"{len(reasons)} of {len(seeds)} seeds are left out, e.g. {name}: {reason}")
    return usable


def conduct(
    directory: RunDirectory,
    config: RunConfig,
    seeds: list[Seed],
    parts: Parts,
    *,
    quiet: bool,
    command: str,
) -> RunResult:
    """Work in a run's directory, which the caller holds, until the run is over or interrupted.

    Raises:
        InterruptedRunError: With the command that goes on.
        ForgeError: As `pipeline.run`; a fault of the machine comes with that command too.
    """
    progress = Progress()
    display = Display(progress.line, lambda: progress.phase.value, quiet=quiet, rows=live_rows(progress))
    with _logged(directory.log), heeded(display.note) as stop:
        if not quiet:
            note(f"run directory {shown(directory.root)}")
        try:
            with display.shown():
                return run(directory, config, seeds, parts, progress=progress, stop=stop, command=command)
        except BaseException as error:
            expected = isinstance(error, ForgeError) and not isinstance(error, InvariantError)
            logging.getLogger("envs_forge").error("the session ended: %s", error, exc_info=not expected)
            way_on = f"continue with: envs-forge resume {shown(directory.root)}"
            if isinstance(error, InterruptedRunError | KeyboardInterrupt) or stop.is_set():
                told = error.message if isinstance(error, InterruptedRunError) else "interrupted"
                raise InterruptedRunError(f"{told}, everything finished is kept", fix=way_on) from error
            if isinstance(error, InfrastructureError):
                error.fix = f"{error.fix}, then {way_on}" if error.fix else way_on
            raise


def shown(path: Path) -> str:
    """A path as short as it can be typed from here."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)


@contextlib.contextmanager
def _logged(path: Path) -> Iterator[None]:
    """Write the package's log records of this session to `run.log`, without secrets."""
    logger = logging.getLogger("envs_forge")
    handler = logging.FileHandler(path, encoding="utf-8", errors="backslashreplace")
    handler.setFormatter(_Redacting("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        handler.close()


class _Redacting(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return redact(super().format(record))
