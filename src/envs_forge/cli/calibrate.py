"""`envs-forge calibrate`: predicted against measured pass rates, and what actions really do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from envs_forge.cli import options
from envs_forge.cli.console import say, show_json, show_table

if TYPE_CHECKING:
    from envs_forge.plan.transition.model import ActionFigures


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("-o", "--output", metavar="FILE", help="Where to keep what was learned, for --transition FILE.")
@click.option(
    "--check", metavar="FILE", help="How far off an earlier file of -o would have been on these children, too."
)
@options.as_json()
def calibrate(runs: tuple[str, ...], output: str | None, check: str | None, json_: bool) -> int:
    """Compare predicted with measured pass rates and learn the shifts.

    RUN is a run with --remeasure, a directory or a name under runs/, or the directory of a study. All runs should be of
    one policy. The learned shifts are shrunk to the published ones: with few children they stay close to them.

    Errors are shown as planned, and for expected predictions with the published shifts, with those learned here (from
    the children that they are held against) and with those of --check.
    """
    from pathlib import Path

    from envs_forge.cli.transition import read_transition
    from envs_forge.files import write_json
    from envs_forge.plan.settings import FrontierConfig
    from envs_forge.plan.transition.figures import ALL, figures, foretold
    from envs_forge.plan.transition.learn import learn
    from envs_forge.run.calibration import children_of
    from envs_forge.run.directory import find_run
    from envs_forge.study.children import is_study, study_children

    studies = [Path(name) for name in runs if is_study(Path(name))]
    others = [name for name in runs if Path(name) not in studies]
    children = [child for root in studies for child in study_children(root)]
    if others:
        children += children_of(find_run(name) for name in others)
    rows, learned = figures(children), learn(children, FrontierConfig())
    sources = {"published": FrontierConfig(), "learned here": learned.frontier(FrontierConfig())}
    if check is not None:
        sources[check] = read_transition(Path(check)).frontier(FrontierConfig())
    errors = {"as planned": rows[ALL]}
    errors |= {name: figures(foretold(children, config))[ALL] for name, config in sources.items()}
    if output is not None:
        write_json(Path(output).absolute(), learned.model_dump(mode="json"))
    if json_:
        document = {
            "figures": {name: row.model_dump() for name, row in rows.items()},
            "errors": {name: row.model_dump(include={"error", "brier", "slope"}) for name, row in errors.items()},
        }
        show_json({**document, "transition": learned.model_dump(mode="json")})
        return 0
    headings = ["action", "children", "rollouts", "predicted", "measured", "MAE", "Brier", "slope", "mixed"]
    show_table(headings, [_row(name, row) for name, row in rows.items()], right=range(1, len(headings)))
    say()
    shown = ["predictions", "MAE", "Brier", "slope"]
    show_table(shown, [_errors(name, row) for name, row in errors.items()], right=range(1, len(shown)))
    say()
    for name in ("shift_increase", "shift_diversify", "shift_reduce", "factor_in_breadth"):
        found = getattr(learned, name)
        say(f"{name}: {found.mean:+.3f} ± {found.sd:.3f} (before: {found.prior_mean:+.2f} ± {found.prior_sd:.2f})")
    for action, found in learned.actions.items():
        say(f"{action}: {found.mean:+.3f} ± {found.sd:.3f} (before: {found.prior_mean:+.2f} ± {found.prior_sd:.2f})")
    if output is not None:
        say(f"next: envs-forge plan --transition {output}")
    return 0


def _errors(name: str, row: ActionFigures) -> list[str]:
    return [name, *("–" if value is None else f"{value:.3f}" for value in (row.error, row.brier, row.slope))]


def _row(name: str, row: ActionFigures) -> list[str]:
    shown = (row.predicted, row.measured, row.error, row.brier, row.slope, row.mixed)
    return [name, str(row.children), str(row.rollouts), *("–" if value is None else f"{value:.2f}" for value in shown)]
