"""`envs-forge loop`: rounds of measuring, making, training and measuring again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from envs_forge.cli import options, transition, writing
from envs_forge.cli.console import say, show_json, show_table

if TYPE_CHECKING:
    from envs_forge.run.rounds import RoundFigures


@click.command()
@options.pool()
@options.policy()
@options.adaptive()
@click.option("-N", "--size", type=int, metavar="N", help="Environments of each round [default: 100].")
@options.recipe()
@transition.option()
@writing.synthesis()
@options.machine()
@options.config_file()
@click.option("--rounds", type=click.IntRange(1), default=3, metavar="R", help="Most rounds [default: 3].")
@click.option("--epochs", type=click.IntRange(1), default=1, metavar="E", help="Passes of each training [default: 1].")
@click.option("--held-out", multiple=True, metavar="DIR", help="Tasks to evaluate on after each round. Repeatable.")
@click.option("--held-out-k", type=click.IntRange(1), default=4, metavar="K", help="Rollouts on each [default: 4].")
@click.option(
    "--least-gain", type=float, metavar="G", help="Stop when held-out Pass@1 rises by less than G in a round."
)
@click.option("-o", "--output", metavar="DIR", help="Where to; a loop there is gone on with [default: loop].")
@options.quiet()
@options.as_json()
def loop(file: str | None, output: str | None, quiet: bool, json_: bool, **flags: Any) -> int:
    """Measure, make environments, train on them, and again with the policy that learned.

    In each round the seeds and all environments of earlier rounds may become parents. Only the builtin policy is
    trained here, which is a small reader of instructions and not a language model; for a language model run the same
    steps with `run`, `train -m` and `evaluate`. The same command goes on with a loop that was stopped.
    """
    from pathlib import Path

    from envs_forge.cli.looping import conduct_loop
    from envs_forge.errors import UserError
    from envs_forge.files import write_text
    from envs_forge.report import plots
    from envs_forge.run.directory import RunDirectory
    from envs_forge.run.rounds import LoopConfig
    from envs_forge.train.builtin.config import start_of
    from envs_forge.train.builtin.settings import LearnerSettings

    names = ("rounds", "epochs", "held_out", "held_out_k", "least_gain")
    own = {name: flags.pop(name) for name in names}
    config = options.config(file, writing.settings(flags), goal="environments")
    start_of(config.policy)
    if not -1 <= (own["least_gain"] or 0) <= 1:
        raise UserError(f"--least-gain is a difference of pass rates, not {own['least_gain']}")
    wanted = LoopConfig(
        rounds=own["rounds"],
        learner=LearnerSettings(epochs=own["epochs"], seed=config.seed),
        held_out=tuple(str(Path(path).absolute()) for path in own["held_out"]),
        attempts=own["held_out_k"],
        least_gain=own["least_gain"],
    )
    root = Path(output or "loop").absolute()
    root.mkdir(parents=True, exist_ok=True)
    with RunDirectory(root).hold():
        result = conduct_loop(root, config, wanted, quiet=quiet)
        if plots.can_plot():
            write_text(root / "rounds.svg", plots.held_out(result))
    if json_:
        show_json({"loop": str(root), **result.model_dump(mode="json")})
        return 0
    headings = ["round", "parents", "measured", "environments", "rollouts", "mixed groups", "held-out Pass@1"]
    show_table(headings, [_row(figures) for figures in result.rounds], right=range(len(headings)))
    if result.before is not None:
        say(f"held-out Pass@1 before the first round: {result.before:.3f}")
    say(f"stopped: {result.stopped}")
    say(f"next: envs-forge report {' '.join(str(root / f'round-{row.round}' / 'run') for row in result.rounds)}")
    return 0


def _row(figures: RoundFigures) -> list[str]:
    interval = f" [{figures.low:.3f}, {figures.high:.3f}]" if figures.low is not None else ""
    return [
        str(figures.round),
        str(figures.parents),
        "–" if figures.measured is None else f"{figures.measured:.3f}",
        str(figures.environments),
        str(figures.rollouts),
        f"{figures.mixed}/{figures.groups}",
        "–" if figures.pass_at_1 is None else f"{figures.pass_at_1:.3f}{interval}",
    ]
