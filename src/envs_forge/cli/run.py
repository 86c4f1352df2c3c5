"""`envs-forge run`: the whole loop."""

from __future__ import annotations

from typing import Any

import click

from envs_forge.cli import options
from envs_forge.cli.console import show_json


@click.command()
@options.pool()
@options.policy()
@click.option("-N", "--size", type=int, metavar="N", help="How many environments to make [default: 100].")
@options.recipe()
@click.option("--generator", metavar="NAME", help="Who writes the bundles [default: procedural].")
@click.option("--draws", type=int, metavar="D", help="Tries at a place before its candidate gives it up [default: 3].")
@click.option("--fast", is_flag=True, help="Verify only up to the oracle, as `verify --fast` does.")
@click.option("--seed", type=int, metavar="S", help="Number that all randomness starts from [default: 0].")
@click.option("--allow-short", is_flag=True, help="Export what there is when N cannot be reached.")
@options.machine()
@options.config_file()
@click.option("-o", "--output", metavar="DIR", help="Run directory [default: runs/<date>__<time>].")
@click.option("--dry-run", is_flag=True, help="Show what would be done and stop.")
@options.quiet()
@options.as_json()
def run(file: str | None, output: str | None, dry_run: bool, quiet: bool, json_: bool, **flags: Any) -> int:
    """Make exactly N verified environments for a policy.

    Measures the policy on the seeds, plans, synthesises, verifies and exports. Exits with 1 when N cannot be reached.
    """
    from envs_forge.cli.conduct import begin
    from envs_forge.cli.report import dry_run_document, exit_code, show_result

    if flags.pop("fast"):
        flags["verification"] = "fast"
    config = options.config(file, flags, goal="environments")
    if dry_run:
        show_json(dry_run_document(config))
        return 0
    directory, result = begin(config, output=output, quiet=quiet, command="run")
    show_result(directory, result, json_=json_)
    return exit_code(result)
