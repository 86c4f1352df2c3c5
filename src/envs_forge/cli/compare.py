"""`envs-forge compare`: the study in miniature."""

from __future__ import annotations

import click

from envs_forge.cli import options
from envs_forge.cli.console import note, say, show_json


@click.command()
@click.option("-c", "--config", "file", required=True, metavar="FILE", help="TOML file: sizes, regimes, readers, arms.")
@click.option("-o", "--output", required=True, metavar="DIR", help="Where to; a study there is gone on with.")
@click.option("--cells", type=click.IntRange(0), metavar="N", help="Run at most N cells now, then show what there is.")
@click.option("-n", "--concurrency", type=click.IntRange(1), metavar="N", help="Processes [default: cores].")
@click.option("--engine", type=click.Choice(["auto", "oci", "docker"]), default="auto", help="Sandbox engine.")
@options.quiet()
@options.as_json()
def compare(
    file: str, output: str, cells: int | None, concurrency: int | None, engine: str, quiet: bool, json_: bool
) -> int:
    """Compare ways of choosing environments, with the builtin policy as learner.

    Each cell (regime, reader, replicate, arm) makes N verified environments, trains on them and is evaluated on
    held-out tasks, at the same number of rollouts as every other. Every reward is first obtained in a container. The
    same command goes on with a study that was stopped. Exits with 1 while cells are missing, or when a reward that was
    checked again was another one.
    """
    from pathlib import Path

    from envs_forge.cli.comparing import conduct_study
    from envs_forge.run.parts import cores
    from envs_forge.study.config import load_study
    from envs_forge.study.tables import markdown
    from envs_forge.study.working import Site

    config = load_study(Path(file))
    root = Path(output).absolute()
    root.mkdir(parents=True, exist_ok=True)
    site = Site(root, engine=engine, processes=concurrency or cores())  # type: ignore[arg-type]
    analysis, audit = conduct_study(
        site, config, cells, name=Path(file).stem, note=(lambda text: None) if quiet else note
    )
    if json_:
        show_json({"study": str(root), **analysis.model_dump(mode="json"), "audit": audit.model_dump(mode="json")})
    else:
        say(markdown(analysis))
        say(f"{audit.rewards} rewards from containers, {audit.audits} checked again, {len(audit.mismatches)} differ")
    return 1 if analysis.cells < analysis.of_cells or audit.mismatches else 0
