"""The rounds of a loop as they lie on disk: whose turn it is, who the parents are, when to stop.

DIR/loop.json                 what was asked for
DIR/round-1/run/              measure, plan, synthesise, verify, export: a run like any other
DIR/round-1/training/         a training on what that run exported
DIR/round-1/evaluation/       a measurement of the trained policy on the held-out tasks, where there are any
DIR/round-1/parents/          the exported environments under names of their own, parents of later rounds
DIR/result.json               the figures of every round
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from envs_forge.bundle.pool import find_bundles
from envs_forge.bundle.reading import read_bundle
from envs_forge.bundle.writing import write_bundle
from envs_forge.files import write_json
from envs_forge.run.directory import RunDirectory
from envs_forge.run.request import begun
from envs_forge.run.result import RunResult
from envs_forge.train.builtin.result import TrainingResult
from envs_forge.train.builtin.settings import LearnerSettings
from envs_forge.train.evaluation import Evaluation

CONFIG, RESULT = "loop.json", "result.json"


class LoopConfig(BaseModel):
    """What a loop is asked for, beside the config of its runs."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    rounds: int = Field(default=3, ge=1)
    """Most rounds."""
    learner: LearnerSettings = LearnerSettings()
    """How the policy learns in each round."""
    held_out: tuple[str, ...] = ()
    """Tasks that the policy is evaluated on after each round, never trained on."""
    attempts: int = Field(default=4, ge=1)
    """Rollouts on each of them."""
    least_mixed: float = Field(default=0.05, ge=0, le=1)
    """Stop after a round in which a smaller share of the groups was mixed: there is little left to learn from."""
    least_gain: float | None = Field(default=None, ge=-1, le=1, allow_inf_nan=False)
    """Stop after a round in which held-out Pass@1 rose by less. None: never for that reason."""


@dataclass(frozen=True)
class RoundDirectory:
    """Names of what lies in a round's directory."""

    root: Path
    number: int

    @property
    def run(self) -> RunDirectory:
        """The run."""
        return RunDirectory(self.root / "run")

    @property
    def training(self) -> Path:
        """The training."""
        return self.root / "training"

    @property
    def evaluation(self) -> RunDirectory:
        """The measurement on the held-out tasks."""
        return RunDirectory(self.root / "evaluation")

    @property
    def parents(self) -> Path:
        """What it exported, for later rounds."""
        return self.root / "parents"

    @property
    def parameters(self) -> Path:
        """The policy after it."""
        return self.training / "parameters.json"


class RoundFigures(BaseModel):
    """One round. Pass@1 is over the rollouts that count, None without held-out tasks."""

    model_config = ConfigDict(frozen=True)

    round: int
    parents: int
    """Seeds and earlier environments that took part."""
    measured: float | None
    """Mean pass rate of the policy on them before it was trained."""
    environments: int
    rollouts: int
    """Measuring, re-measuring and training together."""
    groups: int
    mixed: int
    curve: tuple[float | None, ...]
    pass_at_1: float | None
    low: float | None
    high: float | None


class LoopResult(BaseModel):
    """All rounds, and why there are no more."""

    model_config = ConfigDict(frozen=True)

    schema_version: int = 1
    rounds: tuple[RoundFigures, ...]
    before: float | None
    """Pass@1 on the held-out tasks before the first round."""
    stopped: str
    """`done` after the last round, else why earlier."""


def round_directory(root: Path, number: int) -> RoundDirectory:
    """The directory of a round, from 1."""
    return RoundDirectory(root / f"round-{number}", number)


def keep_config(root: Path, wanted: Mapping[str, Any]) -> None:
    """Write what is asked for, or refuse to go on with something else; more rounds are no difference.

    Raises:
        UserError: Names the keys that differ.
    """
    path = root / CONFIG
    begun(path, wanted, what="loop", free={"loop.rounds"})
    write_json(path, dict(wanted))


def adopt(place: RoundDirectory) -> None:
    """Give the environments of a round names that no other round has, so that all can be parents at once."""
    for path in find_bundles([place.run.export]):
        bundle = read_bundle(path)
        write_bundle(bundle.model_copy(update={"id": f"r{place.number}-{bundle.id}"}), place.parents, replace=True)


def figures(number: int, run: RunResult, training: TrainingResult, evaluation: Evaluation | None) -> RoundFigures:
    """The figures of a round."""
    rates = [seed.rate for seed in run.seeds if seed.rate is not None]
    at_1 = evaluation.valid.pass_at.get(1) if evaluation is not None else None
    return RoundFigures(
        round=number,
        parents=len(run.seeds),
        measured=sum(rates) / len(rates) if rates else None,
        environments=run.exported,
        rollouts=run.totals.trials + training.rollouts,
        groups=training.groups,
        mixed=training.mixed,
        curve=training.curve,
        pass_at_1=at_1.value if at_1 is not None else None,
        low=at_1.low if at_1 is not None else None,
        high=at_1.high if at_1 is not None else None,
    )


def reason_to_stop(rounds: Sequence[RoundFigures], before: float | None, config: LoopConfig) -> str:
    """Why there is to be no further round; empty when there is."""
    last = rounds[-1]
    if last.groups and last.mixed / last.groups < config.least_mixed:
        return f"{last.mixed} of {last.groups} groups were mixed"
    earlier = rounds[-2].pass_at_1 if len(rounds) > 1 else before
    if config.least_gain is not None and last.pass_at_1 is not None and earlier is not None:
        gain = last.pass_at_1 - earlier
        if gain < config.least_gain:
            return f"held-out Pass@1 rose by {gain:+.3f}"
    return "done" if last.round >= config.rounds else ""
