"""`envs-forge measure`: pass rates of a policy on tasks."""

from __future__ import annotations

from typing import Any

import click

from envs_forge.cli import options
from envs_forge.cli.console import show_json


@click.command()
@options.pool()
@options.policy()
@options.adaptive(details=True)
@options.fresh()
@options.machine()
@options.config_file()
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, writable=True),
    metavar="FILE",
    help="Also write the pass rates here, for `envs-forge plan`.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be done and stop.")
@options.quiet()
@options.as_json()
def measure(file: str | None, output: str | None, dry_run: bool, quiet: bool, json_: bool, **flags: Any) -> int:
    """Measure the pass rates of a policy on tasks.

    Every task is attempted a few times, each time in a fresh sandbox. What the machine spoils is tried again
    and never counts as a failure of the policy. Rollouts of earlier runs of the same policy on the same task
    are used again. Exits with 1 when rollouts are missing or a task has none that counts.
    """
    from pathlib import Path

    from envs_forge.cli.conduct import begin
    from envs_forge.cli.outcomes import dry_run_document, exit_code
    from envs_forge.cli.rates import show_rates
    from envs_forge.errors import UserError
    from envs_forge.files import write_bytes

    only = [name for name in ("rollout_budget", "cap", "delta", "size") if flags[name] is not None]
    if only and not flags["adaptive"]:
        raise UserError(f"--{only[0].removeprefix('rollout_')} needs --adaptive")
    if flags["adaptive"] and flags["attempts"] is not None:
        raise UserError("-k has no say with --adaptive", fix="--cap is the most of one task, --budget that of all")
    config = options.config(file, flags, goal="pass-rates")
    if dry_run:
        show_json(dry_run_document(config))
        return 0
    directory, result = begin(config, output=None, quiet=quiet, command="measure")
    if output is not None:
        write_bytes(Path(output), directory.pass_rates.read_bytes())
    show_rates(directory, result, json_=json_)
    return exit_code(result)
