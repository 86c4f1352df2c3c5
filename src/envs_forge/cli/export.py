"""`envs-forge export`: write the accepted environments of a run again, here or elsewhere."""

from __future__ import annotations

import click

from envs_forge.cli import options
from envs_forge.cli.console import say, show_json


@click.command()
@click.argument("run", default="latest", metavar="[RUN]")
@click.option("-o", "--output", metavar="DIR", help="Where to [default: export/ of the run].")
@click.option("--allow-short", is_flag=True, help="Export although the run has fewer than N.")
@click.option(
    "--image-prefix",
    metavar="NAME",
    help="Set docker_image to NAME/<id>:<hash>, for readers that pull images; the index lists what to build and push.",
)
@options.as_json()
def export(run: str, output: str | None, allow_short: bool, image_prefix: str | None, json_: bool) -> int:
    """Write the accepted environments of a run for trainers.

    RUN is a directory or a name under runs/ [default: latest]. Makes tasks/<id>/ and index.jsonl. Exits with
    1 when there are fewer than N; they are written only with --allow-short.
    """
    from pathlib import Path

    from envs_forge.cli.conduct import shown
    from envs_forge.export.prebuilt import check_prefix
    from envs_forge.run.directory import find_run
    from envs_forge.run.stored import export_again

    prefix = check_prefix(image_prefix) if image_prefix is not None else None
    directory = find_run(run)
    target = Path(output) if output is not None else None
    with directory.hold():
        result = export_again(directory, target, allow_short=allow_short, image_prefix=prefix)
    place = shown(target.absolute() if target is not None else directory.export)
    if json_:
        show_json({"requested": result.requested, "accepted": result.accepted, "path": place})
    else:
        say(f"{result.accepted} of {result.requested} environments: {place}")
    return 0 if result.accepted == result.requested else 1
