"""`envs-forge report`: what came of runs and trainings, as one page."""

from __future__ import annotations

import click

from envs_forge.cli import options
from envs_forge.cli.console import say, show_json


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("-o", "--output", metavar="FILE", help="HTML file [default: report.html in the first RUN].")
@options.as_json()
def report(runs: tuple[str, ...], output: str | None, json_: bool) -> int:
    """Write one HTML file about runs and trainings.

    RUN is a run's directory, a name under runs/, or a directory that `train` wrote. The page needs no network and no
    other file; its plots are also written as SVG files into a folder beside it. Nothing is run again, and a run that
    is still at work may be reported on.
    """
    from pathlib import Path

    from envs_forge.cli.conduct import shown
    from envs_forge.report.curves import is_training, read_curve
    from envs_forge.report.gather import gather
    from envs_forge.report.page import write_report
    from envs_forge.run.directory import find_run

    trainings = [Path(name).absolute() for name in runs if is_training(Path(name))]
    found = [find_run(name) for name in runs if not is_training(Path(name))]
    first = found[0].root if found else trainings[0]
    target = Path(output).absolute() if output is not None else first / "report.html"
    files = write_report(target, [gather(run) for run in found], [read_curve(root) for root in trainings])
    if json_:
        show_json({"report": str(files[0]), "plots": [str(path) for path in files[1:]]})
    else:
        say(f"report: {shown(files[0])}, {len(files) - 1} plots beside it in {shown(files[1].parent)}/")
    return 0
