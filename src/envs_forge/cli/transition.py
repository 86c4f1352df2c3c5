"""`--transition`: what a plan takes actions to do, as published or as learned from runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from envs_forge.errors import UserError

if TYPE_CHECKING:
    from envs_forge.plan.transition.model import Transition

F = TypeVar("F", bound=Callable[..., Any])

PUBLISHED, LEARNED = "published", "learned"


def option() -> Callable[[F], F]:
    """`--transition`."""
    return click.option(
        "--transition",
        metavar="WHICH",
        help="What actions do to pass rates: published, learned (from all runs under runs/), a run, or a file of "
        "`calibrate -o` [default: published].",
    )


def frontier_settings(which: str) -> dict[str, float]:
    """The settings, by dotted key, that `--transition` stands for.

    Raises:
        UserError: There is nothing to learn from, or the file is damaged.
    """
    if which == PUBLISHED:
        return {}
    from envs_forge.plan.settings import FrontierConfig

    path = Path(which)
    learned = read_transition(path) if path.is_file() else _learned(which)
    config = learned.frontier(FrontierConfig())
    names = ("shift_increase", "shift_diversify", "shift_reduce", "factor_in_depth", "factor_in_breadth")
    own = {f"shifts.{action}": shift for action, shift in config.shifts.items()}
    found = {**{name: getattr(config, name) for name in names}, **own}
    return {f"plan.frontier.{name}": round(value, 6) for name, value in found.items()}


def read_transition(path: Path) -> Transition:
    """A file of `calibrate -o`.

    Raises:
        UserError: It is not there or something else.
    """
    from pydantic import ValidationError

    from envs_forge.plan.transition.model import Transition

    try:
        return Transition.model_validate_json(path.read_bytes())
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from error
    except ValidationError as error:
        raise UserError(f"{path} is no file of `envs-forge calibrate -o`", fix="make it again") from error


def _learned(which: str) -> Transition:
    from envs_forge.plan.settings import FrontierConfig
    from envs_forge.plan.transition.learn import learn
    from envs_forge.run.calibration import children_of
    from envs_forge.run.directory import RUNS, RunDirectory, find_run

    if which != LEARNED:
        return learn(children_of([find_run(which)]), FrontierConfig())
    roots = sorted(path for path in RUNS.glob("*") if not path.is_symlink() and (path / "ledger.sqlite").is_file())
    return learn(children_of(RunDirectory(root) for root in roots), FrontierConfig())
