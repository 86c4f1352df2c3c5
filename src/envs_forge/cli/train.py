"""`envs-forge train`: train a language model, or the builtin policy, on tasks."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from envs_forge.cli import options
from envs_forge.cli.console import note, say, show_json

if TYPE_CHECKING:
    from envs_forge.run.seeds import Seed


@click.command()
@options.pool(required=True)
@click.option("-m", "--model", metavar="MODEL", help="Language model to train: a directory or a name at the hub.")
@click.option("-c", "--config", "file", metavar="FILE", help="TOML file with settings of a model's training.")
@click.option("--steps", type=click.IntRange(1), metavar="N", help="Steps of a model's training [default: 50].")
@click.option("--held-out", multiple=True, metavar="PATH", help="Evaluation set that no task may repeat; for a model.")
@click.option(
    "--policy",
    default="builtin",
    metavar="NAME",
    help="Without -m: where to start, builtin, builtin:PRESET or builtin:FILE [default: builtin].",
)
@click.option("-o", "--output", metavar="DIR", help="Where to; a training there is gone on with [default: trained].")
@click.option("--epochs", type=click.IntRange(1), metavar="E", help="Passes over the tasks, builtin only [default: 1].")
@click.option("--group", type=click.IntRange(2), metavar="G", help="Rollouts of a task in a group [default: 8].")
@click.option("--batch", type=click.IntRange(1), metavar="B", help="Groups in a step [default: 8; a model: 1].")
@click.option("--rate", type=float, metavar="R", help="Learning rate [default: 8; a model: 1e-6].")
@click.option("--seed", type=int, metavar="S", help="Number that all randomness starts from [default: 0].")
@click.option("--no-memory", is_flag=True, help="A container for every rollout, also for what was done before.")
@options.machine()
@options.quiet()
@options.as_json()
def train(model: str | None, output: str | None, quiet: bool, json_: bool, **flags: Any) -> int:
    """Train a policy on tasks, by the tests' reward alone.

    With -m: GRPO of a language model with TRL (the extra train), in episodes of the terminal agent. Without: policy
    gradient with group-relative advantages on the builtin policy, which is a small reader of instructions and not a
    language model. Each thing that it does is first done in a real container; then its reward is remembered, and one
    in a hundred is checked again. The same command goes on with a training that was stopped. Exits with 1 when a
    check found another reward.
    """
    from envs_forge.run.seeds import load_seeds, select_paths

    paths = select_paths(flags["paths"], include=flags["include"], exclude=flags["exclude"], limit=flags["limit"])
    root = Path(output or "trained").absolute()
    conduct = _model if model is not None else _builtin
    return conduct(root, load_seeds(paths), flags | {"model": model}, quiet, json_)


@contextlib.contextmanager
def _held(root: Path) -> Iterator[None]:
    """A training's directory, made and held, and drawn in when all went well. One that stays empty goes again."""
    import shutil

    from envs_forge.errors import UserError
    from envs_forge.files import disk_faults
    from envs_forge.report.plots import write_curves
    from envs_forge.run.directory import RunDirectory

    new = not root.exists()
    with disk_faults(root):
        try:
            root.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError, PermissionError) as error:
            raise UserError(
                f"cannot make the directory {root}: {error.strerror}", fix="choose another one with -o"
            ) from error
    with RunDirectory(root).hold():
        try:
            yield
        except BaseException:
            if new and [path.name for path in root.iterdir()] == [".in-use"]:
                shutil.rmtree(root)
            raise
        write_curves(root)


def _model(root: Path, seeds: Sequence[Seed], flags: dict[str, Any], quiet: bool, json_: bool) -> int:
    from envs_forge.cli.finetuning import conduct_finetuning, grpo_settings
    from envs_forge.run.finetuning import FinetuningConfig

    given = {name: flags[name] for name in ("steps", "group", "batch", "rate", "seed") if flags[name] is not None}
    local = Path(flags["model"])
    config = FinetuningConfig(
        model=str(local.absolute()) if local.is_dir() else flags["model"],
        settings=grpo_settings(flags["file"], given),
        held_out=tuple(str(Path(path).absolute()) for path in flags["held_out"]),
        engine=flags["engine"] or "auto",
        network=not flags["no_network"],
        concurrency=flags["concurrency"],
    )
    with _held(root):
        result = conduct_finetuning(root, config, seeds, say=(lambda line: None) if quiet else note)
    if json_:
        show_json({key: value for key, value in result.items() if key != "shown"})
    else:
        say(f"{result['steps']} steps done; the model: {result['shown']}/model")
        say("next: serve it and run envs-forge evaluate -p TASKS -m MODEL --base-url URL")
    return 0


def _builtin(root: Path, seeds: Sequence[Seed], flags: dict[str, Any], quiet: bool, json_: bool) -> int:
    from envs_forge.cli.training import conduct_training, show_training
    from envs_forge.train.builtin.config import TrainingConfig
    from envs_forge.train.builtin.settings import LearnerSettings

    chosen = {name: flags[name] for name in ("epochs", "group", "batch", "rate", "seed") if flags[name] is not None}
    try:
        learner = LearnerSettings(**chosen)
    except ValueError as error:
        raise click.UsageError(f"--rate must be a number above 0, not {flags['rate']}") from error
    config = TrainingConfig(
        policy=options.absolute_policy(flags["policy"]),
        learner=learner,
        remember=not flags["no_memory"],
        engine=flags["engine"] or "auto",
        network=not flags["no_network"],
        concurrency=flags["concurrency"],
    )
    with _held(root):
        result = conduct_training(root, config, seeds, quiet=quiet)
    show_json({"training": str(root), **result.model_dump(mode="json")}) if json_ else show_training(root, result, say)
    return 1 if result.mismatches else 0
