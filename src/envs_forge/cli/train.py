"""`envs-forge train`: train the builtin policy on tasks."""

from __future__ import annotations

from typing import Any

import click

from envs_forge.cli import options
from envs_forge.cli.console import say, show_json


@click.command()
@options.pool(required=True)
@click.option(
    "--policy",
    default="builtin",
    metavar="NAME",
    help="Where to start: builtin, builtin:PRESET or builtin:FILE [default: builtin].",
)
@click.option("-o", "--output", metavar="DIR", help="Where to; a training there is gone on with [default: trained].")
@click.option("--epochs", type=click.IntRange(1), metavar="E", help="Passes over the tasks [default: 1].")
@click.option("--group", type=click.IntRange(2), metavar="G", help="Rollouts of a task in a group [default: 8].")
@click.option("--batch", type=click.IntRange(1), metavar="B", help="Groups in a step [default: 8].")
@click.option("--rate", type=float, metavar="R", help="Learning rate [default: 8].")
@click.option("--seed", type=int, metavar="S", help="Number that all randomness starts from [default: 0].")
@click.option("--no-memory", is_flag=True, help="A container for every rollout, also for what was done before.")
@options.machine()
@options.quiet()
@options.as_json()
def train(policy: str, output: str | None, no_memory: bool, quiet: bool, json_: bool, **flags: Any) -> int:
    """Train the builtin policy on tasks, by the tests' reward alone.

    Policy gradient with group-relative advantages. The builtin policy is a small reader of instructions and not a
    language model. Each thing that it does is first done in a real container; then its reward is remembered, and one
    in a hundred is checked again. The same command goes on with a training that was stopped. Exits with 1 when a
    check found another reward.
    """
    from pathlib import Path

    from envs_forge.cli.training import conduct_training, show_training
    from envs_forge.run.directory import RunDirectory
    from envs_forge.run.seeds import load_seeds, select_paths
    from envs_forge.train.builtin.config import TrainingConfig
    from envs_forge.train.builtin.settings import LearnerSettings

    chosen = {name: flags[name] for name in ("epochs", "group", "batch", "rate", "seed") if flags[name] is not None}
    try:
        learner = LearnerSettings(**chosen)
    except ValueError as error:
        raise click.UsageError(f"--rate must be a number above 0, not {flags['rate']}") from error
    config = TrainingConfig(
        policy=options.absolute_policy(policy),
        learner=learner,
        remember=not no_memory,
        engine=flags["engine"] or "auto",
        network=not flags["no_network"],
        concurrency=flags["concurrency"],
    )
    paths = select_paths(flags["paths"], include=flags["include"], exclude=flags["exclude"], limit=flags["limit"])
    seeds = load_seeds(paths)
    root = Path(output or "trained").absolute()
    root.mkdir(parents=True, exist_ok=True)
    with RunDirectory(root).hold():
        result = conduct_training(root, config, seeds, quiet=quiet)
    show_json({"training": str(root), **result.model_dump(mode="json")}) if json_ else show_training(root, result, say)
    return 1 if result.mismatches else 0
