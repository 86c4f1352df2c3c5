"""A run that lies on disk: its config, its figures, its export again. Nothing here needs an engine."""

from __future__ import annotations

import json
from pathlib import Path

from envs_forge.config import OPERATIONAL, RunConfig, Settings, flatten, make_config, merge, read_toml
from envs_forge.errors import UserError
from envs_forge.files import write_json
from envs_forge.ledger.store import Ledger
from envs_forge.run.directory import RunDirectory
from envs_forge.run.exporting import export_accepted
from envs_forge.run.journal import Journal
from envs_forge.run.lock import refuse_changes
from envs_forge.run.planning import state_of
from envs_forge.run.result import RunResult, run_result


def stored_config(directory: RunDirectory) -> RunConfig:
    """The config of a run.

    Raises:
        UserError: It is missing or damaged.
    """
    try:
        table = json.loads(directory.config.read_bytes())
    except OSError as error:
        raise UserError(f"cannot read {directory.config}: {error.strerror}") from error
    except ValueError as error:
        raise UserError(f"{directory.config} is not JSON: {error}") from error
    return make_config(table, where=str(directory.config))


def resumed_config(directory: RunDirectory, file: str | None, flags: Settings) -> RunConfig:
    """The config to go on with: the stored one with new values for what does not change the outcome.

    Raises:
        UserError: `config.json` was changed, or `file` says something else; names the keys.
    """
    config = stored_config(directory)
    stored = flatten(config.model_dump(mode="json"))
    table = flatten(read_toml(Path(file))) if file is not None else {}
    asked = {key: value for key, value in table.items() if key not in OPERATIONAL and stored.get(key) != value}
    if asked:
        raise UserError(
            f"{directory.root.name} cannot be resumed with {file}, which differs in: {', '.join(sorted(asked))}",
            fix="resume without -c or start a new run",
        )
    if directory.ledger.is_file():
        with Ledger.open(directory.ledger) as ledger:
            first = Journal(ledger).first_session()
        if first is not None:
            refuse_changes(first.payload, config, run=directory.root.name)
    news = {key: value for key, value in (table | flags).items() if key in OPERATIONAL}
    return make_config(merge(config.model_dump(mode="json"), news), where="the command line")


def read_result(directory: RunDirectory) -> RunResult:
    """The figures of a run at this moment; another process may be at work on it."""
    with Ledger.open(directory.ledger, read_only=True) as ledger:
        return run_result(stored_config(directory), Journal(ledger))


def finished_result(directory: RunDirectory, config: RunConfig) -> RunResult | None:
    """The figures of a run that is done; None when there is something to go on with."""
    if not directory.ledger.is_file():
        return None
    with Ledger.open(directory.ledger) as ledger:
        result = run_result(config, Journal(ledger))
    return result if result.state == "done" and _export_is_there(directory, result) else None


def export_again(
    directory: RunDirectory, target: Path | None, *, allow_short: bool, image_prefix: str | None = None
) -> RunResult:
    """Export what a run has accepted, to its own export or elsewhere; less than N only with `allow_short`.

    Raises:
        UserError: Nothing is accepted yet.
    """
    config = stored_config(directory)
    with Ledger.open(directory.ledger) as ledger:
        journal = Journal(ledger)
        first = journal.first_session()
        state = state_of(journal.plans(), journal.decisions(), config.draws)
        if first is None or not state.accepted:
            raise UserError(f"{directory.root.name} has no accepted environment yet")
        short = len(state.accepted) < config.plan.size
        if not short or allow_short:
            journal.begin("export", first.payload["config"], first.payload["lock"])
            export_accepted(state, journal, directory, target, image_prefix=image_prefix)
        result = run_result(config, journal)
    write_json(directory.result, result.model_dump(mode="json"))
    return result


def _export_is_there(directory: RunDirectory, result: RunResult) -> bool:
    return result.goal != "environments" or directory.export.is_dir()
