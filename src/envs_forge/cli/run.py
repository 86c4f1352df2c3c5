"""`envs-forge run`: the whole loop."""

from __future__ import annotations

from typing import Any

import click

from envs_forge.cli import options, transition, writing


@click.command()
@options.pool()
@options.policy()
@options.adaptive()
@options.fresh()
@click.option("-N", "--size", type=int, metavar="N", help="How many environments to make [default: 100].")
@options.recipe()
@transition.option()
@writing.synthesis()
@options.machine()
@options.config_file()
@click.option("-o", "--output", metavar="DIR", help="Run directory [default: runs/<date>__<time>].")
@click.option(
    "--dry-run", is_flag=True, help="Show what would be done, with a model the prompt of one assignment, and stop."
)
@options.quiet()
@options.as_json()
def run(file: str | None, output: str | None, dry_run: bool, quiet: bool, json_: bool, **flags: Any) -> int:
    """Make exactly N verified environments for a policy.

    Measures the policy on the seeds, plans, synthesises, verifies and exports. Exits with 1 when N cannot be reached.
    """
    from envs_forge.cli.conduct import begin
    from envs_forge.cli.dryrun import show_dry_run
    from envs_forge.cli.outcomes import exit_code, show_result

    config = options.config(file, writing.settings(flags), goal="environments")
    writing.refuse_idle(flags, config)
    if dry_run:
        show_dry_run(config, json_=json_)
        return 0
    directory, result = begin(config, output=output, quiet=quiet, command="run")
    show_result(directory, result, json_=json_)
    return exit_code(result)
