"""`envs-forge status`: how far a run is and what it did, from its ledger."""

from __future__ import annotations

import click

from envs_forge.cli import options


@click.command()
@click.argument("run", default="latest", metavar="[RUN]")
@options.as_json()
def status(run: str, json_: bool) -> int:
    """Show how far a run is, even while it goes on.

    RUN is a directory or a name under runs/ [default: latest].
    """
    from envs_forge.cli.outcomes import show_status
    from envs_forge.run.directory import find_run
    from envs_forge.run.stored import read_result

    directory = find_run(run)
    show_status(directory, read_result(directory), json_=json_)
    return 0
