"""`envs-forge resume`: go on with a run that was interrupted, killed or failed."""

from __future__ import annotations

from typing import Any

import click

from envs_forge.cli import options, writing


@click.command()
@click.argument("run", default="latest", metavar="[RUN]")
@click.option("-n", "--concurrency", type=int, metavar="N", help="Sandboxes at work at once.")
@click.option("--allow-short", is_flag=True, help="Export what there is when N cannot be reached.")
@click.option("--base-url", metavar="URL", help="Where the policy's model is served now.")
@click.option("--generator-url", metavar="URL", help="Where the generator's model is served now.")
@click.option("--judge-url", metavar="URL", help="Where the judge's model is served now.")
@writing.budget()
@options.config_file()
@options.quiet()
@options.as_json()
def resume(run: str, file: str | None, quiet: bool, json_: bool, **flags: Any) -> int:
    """Go on with a run that was interrupted, killed or failed.

    RUN is a directory or a name under runs/ [default: latest]. Nothing that is finished is done again. A
    config, seeds or parts that differ from those that the run began with are
    refused, with the keys that differ.
    """
    from envs_forge.cli.conduct import go_on
    from envs_forge.cli.outcomes import exit_code, show_outcome
    from envs_forge.run.directory import find_run
    from envs_forge.run.stored import finished_result, resumed_config

    directory = find_run(run)
    with directory.hold():
        config = resumed_config(directory, file, options.settings(**writing.settings(flags)))
        result = finished_result(directory, config) or go_on(directory, config, quiet=quiet)
    show_outcome(directory, result, json_=json_)
    return exit_code(result)
