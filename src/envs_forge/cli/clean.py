"""`envs-forge clean`: remove what dead runs left, and old images beyond a size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from envs_forge.cli import options
from envs_forge.cli.console import note, say, show_json

if TYPE_CHECKING:
    from envs_forge.sandbox.leftover import Leftover


@click.command()
@click.option("--images", metavar="SIZE", help="Remove built images, those not used for longest first, beyond SIZE.")
@click.option("--layers", metavar="SIZE", help="Drop exported layers beyond SIZE [default: 20G].")
@click.option("--dry-run", is_flag=True, help="Say what would be removed and remove nothing.")
@options.as_json()
def clean(images: str | None, layers: str | None, dry_run: bool, json_: bool) -> int:
    """Remove what dead runs left: containers, networks, mounts, control groups, disk slots, temporary directories.

    What a living process has made or used is never touched. Every command that starts sandboxes removes the first kind
    by itself. Exits with 1 when something could not be cleaned.
    """
    from envs_forge.sandbox.cleaning import clean as clean_up
    from envs_forge.sandbox.sizes import bytes_of, human

    most = [bytes_of(size) if size is not None else None for size in (images, layers)]
    cleaning = clean_up(images=most[0], layers=most[1], dry_run=dry_run)
    freed = sum(one.bytes for one in cleaning.found)
    if json_:
        rows = [{"kind": one.kind, "name": one.name, "bytes": one.bytes} for one in cleaning.found]
        show_json({"dry_run": dry_run, "bytes": freed, "removed": rows, "problems": cleaning.problems})
    else:
        for one in cleaning.found:
            say(_line(one))
        what = "would be removed" if dry_run else "removed"
        say(f"{len(cleaning.found)} things {what}, {human(freed)}" if cleaning.found else "nothing to remove")
        for problem in cleaning.problems:
            note(problem)
    return 1 if cleaning.problems else 0


def _line(one: Leftover) -> str:
    from envs_forge.sandbox.sizes import human

    return f"{one.kind} {one.name}" + (f" ({human(one.bytes)})" if one.bytes else "")
