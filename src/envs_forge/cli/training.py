"""Conducts a training: signals, display, what is said at the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from envs_forge.cli.conduct import shown
from envs_forge.cli.display import Display
from envs_forge.errors import InfrastructureError
from envs_forge.run.interruption import heeded
from envs_forge.run.progress import clock
from envs_forge.run.seeds import Seed
from envs_forge.run.training import Training
from envs_forge.train.builtin.config import TrainingConfig
from envs_forge.train.builtin.learner import StepMetrics
from envs_forge.train.builtin.result import TrainingResult
from envs_forge.train.rewards.source import StoppedError

_GO_ON = "the same command goes on with it"


def conduct_training(root: Path, config: TrainingConfig, seeds: Sequence[Seed], *, quiet: bool) -> TrainingResult:
    """Train until done or stopped.

    Raises:
        StoppedError: With the way on.
        InfrastructureError: The same.
    """
    lines = ["starting"]

    def on_step(metrics: StepMetrics) -> None:
        mean = "–" if metrics.mean_reward is None else f"{metrics.mean_reward:.3f}"
        lines.append(
            f"step {metrics.step}/{total} · mean reward {mean} · mixed groups {metrics.mixed}/{metrics.groups}"
            f" · containers {metrics.contained} · {metrics.seconds:.1f} s"
        )

    display = Display(lambda: lines[-1], lambda: str(len(lines)), quiet=quiet)
    with heeded(display.note) as stop:
        training = Training(root, config, seeds, stop=stop, on_step=on_step)
        total = training.steps
        try:
            with display.shown():
                return training.run()
        except (StoppedError, InfrastructureError) as error:
            error.fix = f"{error.fix}, then {_GO_ON}" if error.fix else _GO_ON
            raise


def show_training(root: Path, result: TrainingResult, say: Callable[[str], None]) -> None:
    """What a training came to."""
    curve = " → ".join("–" if mean is None else f"{mean:.3f}" for mean in result.curve)
    say(f"mean reward by pass over the tasks: {curve}")
    say(
        f"{result.groups} groups: {result.mixed} mixed, {result.all_failed} all failed, {result.all_passed} all passed,"
        f" {result.all_equal} equal in between, {result.dropped} dropped"
    )
    say(
        f"{result.rollouts} rollouts in {result.steps} steps, {result.contained} containers, "
        f"{result.audits} rewards checked again: {len(result.mismatches)} differ, {clock(result.seconds)}"
    )
    for content in result.mismatches:
        say(f"not repeatable: {content}")
    say(f"next: envs-forge evaluate -p TASKS --policy builtin:{shown(root)}/parameters.json")
