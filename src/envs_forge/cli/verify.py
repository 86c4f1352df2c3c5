"""`envs-forge verify`: gold verification of any Harbor tasks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from envs_forge.cli import options


@click.command()
@options.pool()
@click.option("--stages", metavar="A,B", help="Only these stages, and what they need.")
@click.option("--fast", is_flag=True, help="Only the stages that every task should pass at once.")
@click.option("--all-findings", is_flag=True, help="Go on after a stage that did not pass, where that makes sense.")
@click.option("--no-cache", is_flag=True, help="Verify what is unchanged since its last verdict again.")
@click.option("-o", "--output", metavar="DIR", help="Write each verdict to a file there as it falls.")
@options.machine()
@options.config_file()
@options.quiet()
@options.as_json()
def verify(
    stages: str | None,
    fast: bool,
    all_findings: bool,
    no_cache: bool,
    output: str | None,
    file: str | None,
    quiet: bool,
    json_: bool,
    **flags: Any,
) -> int:
    """Verify tasks in containers and say why one is not sound.

    They must build, pay nothing for no work, and their solution must pass. Exits with 1 when one is not
    accepted. What the machine spoils is an error, not a rejection.
    """
    from envs_forge.cli.outcomes import show_verdicts
    from envs_forge.cli.verifying import verify_all

    config = options.config(file, flags, goal="environments")
    verdicts = verify_all(
        config,
        stages=stages,
        fast=fast,
        all_findings=all_findings,
        cached=not no_cache,
        output=Path(output) if output else None,
        quiet=quiet,
    )
    show_verdicts(verdicts, json_=json_)
    return 0 if all(verdict.decision == "accepted" for verdict in verdicts) else 1
