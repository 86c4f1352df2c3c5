"""`envs-forge synthesize`: environments from pass rates or a plan that are there already; no seed is measured."""

from __future__ import annotations

from typing import Any

import click

from envs_forge.cli import options, writing


@click.command()
@options.pool()
@click.option(
    "--pass-rates",
    metavar="PATH",
    help="What `measure` wrote, a run, a Harbor job directory, or a file with id, k and n.",
)
@click.option("--plan", "planned", metavar="PATH", help="What `plan -o` wrote, or a run that has a plan.")
@click.option(
    "-N", "--size", type=int, metavar="N", help="How many environments [default: as many as the plan, else 100]."
)
@options.recipe()
@writing.synthesis()
@options.policy()
@options.machine()
@options.config_file()
@click.option("-o", "--output", metavar="DIR", help="Run directory [default: runs/<date>__<time>].")
@click.option("--dry-run", is_flag=True, help="Show the prompt of one assignment and its tokens, and stop.")
@options.quiet()
@options.as_json()
def synthesize(
    file: str | None, output: str | None, dry_run: bool, quiet: bool, json_: bool, planned: str | None, **flags: Any
) -> int:
    """Make environments from pass rates or a plan that are there already.

    Give --pass-rates, and the run plans and goes on as `run` does; or --plan, and its first plan is that one. With
    both, places that the plan's choices cannot fill are planned again from all rates; with a plan alone, from its own
    seeds. The policy is only asked where --remeasure wants it.
    """
    from envs_forge.cli.conduct import begin
    from envs_forge.cli.dryrun import show_dry_run
    from envs_forge.cli.outcomes import exit_code, show_result
    from envs_forge.errors import UserError

    if planned is None and flags["pass_rates"] is None:
        raise UserError("nothing says what to make", fix="give --pass-rates PATH or --plan PATH")
    if planned is not None:
        flags = _from_plan(planned, flags)
    config = options.config(file, writing.settings(flags), goal="environments")
    writing.refuse_idle(flags, config)
    if dry_run:
        show_dry_run(config, json_=json_)
        return 0
    directory, result = begin(config, output=output, quiet=quiet, command="synthesize")
    show_result(directory, result, json_=json_)
    return exit_code(result)


def _from_plan(planned: str, flags: dict[str, Any]) -> dict[str, Any]:
    """N and recipe as the plan has them, unless they are given."""
    from envs_forge.run.given import read_plan

    plan = read_plan(planned)
    size = flags["size"] if flags["size"] is not None else len(plan.choices)
    return {**flags, "planned": planned, "size": size, "recipe": flags["recipe"] or str(plan.recipe)}
