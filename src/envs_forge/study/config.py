"""What a study compares. Everything that its outcome depends on is in here and in the code, before it is run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from envs_forge.config import read_toml
from envs_forge.errors import UserError
from envs_forge.plan.settings import Arm, FrontierConfig, PlanSettings, Recipe, Scoring, Solver
from envs_forge.rollout.policies.builtin.parameters import BuiltinParameters, Strength, preset
from envs_forge.train.builtin.settings import LearnerSettings

_NAME = Field(pattern=r"^[a-z0-9][a-z0-9.-]*$")


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class ArmConfig(_Part):
    """One way of choosing what to make."""

    name: str = _NAME
    recipe: Recipe = Recipe.FORGE
    """Mask of the actions."""
    arm: Arm = Arm.MASKED
    """`masked`: pass rates are measured, at the arm's cost, and the optimiser chooses. `blind`: neither."""
    without: tuple[str, ...] = ()
    """Projections that are taken out of the mask, e.g. `reduce`."""
    solver: Solver = Solver.MILP
    """How the choice is made."""
    scoring: Scoring = Scoring.POSTERIOR
    """Plug-in F or its expectation."""
    frontier: FrontierConfig = FrontierConfig()
    """Other shifts and factors of the actions than the published ones, another pass rate to aim at."""
    quotas: Literal["uniform"] | Mapping[str, float] = {}
    """Least number of uses of skills."""
    rounds: int = Field(default=1, ge=1)
    """Rounds of measuring, making and training; each makes its share of the N environments."""
    told: bool = True
    """Whether the generator is told which tests the measuring rollouts failed; never in a blind arm."""
    rollouts: int | None = Field(default=None, ge=1)
    """Rollouts of each seed of the pool that this arm pays for, if not those of the study."""
    only: tuple[str, ...] = ()
    """Regimes and readers that this arm is run in; a kind of which none is named is not restricted."""

    def takes_part(self, regime: str, reader: str, config: StudyConfig) -> bool:
        """Whether this arm has a cell there."""
        named = set(self.only)
        kinds = ((regime, config.regimes), (reader, config.readers))
        return all(name in named or named.isdisjoint(part.name for part in parts) for name, parts in kinds)

    def plan(self, size: int, seed: int) -> PlanSettings:
        """The decision problem of this arm."""
        return PlanSettings.model_validate(
            {
                "size": size,
                "recipe": self.recipe,
                "arm": self.arm,
                "solver": self.solver,
                "scoring": self.scoring,
                "frontier": self.frontier,
                "quotas": self.quotas,
                "seed": seed,
            }
        )


class RegimeConfig(_Part):
    """Which seeds there are, and how long is trained."""

    name: str = _NAME
    saturated: float = Field(ge=0, le=1)
    """Share of the pool's seeds that the reader nearly always fails or nearly always passes."""
    passes: int = Field(ge=1)
    """Passes over the N environments that an arm which measures can afford; what others save is trained longer."""


class ReaderConfig(_Part):
    """A kind of base policy; each replicate draws another reader of this kind."""

    name: str = _NAME
    strength: Strength = Strength.MEDIUM
    """Preset."""
    changes: Mapping[str, float] = {}
    """Other values for parameters of the builtin policy, e.g. `transfer_family`."""

    def parameters(self, seed: int) -> BuiltinParameters:
        """The reader of this kind that a number stands for."""
        return preset(self.strength, seed=seed, **self.changes)


class StudyConfig(_Part):
    """A grid of cells: regime × reader × replicate × arm."""

    size: int = Field(ge=1)
    """N: environments that an arm makes."""
    seeds: int = Field(ge=1)
    """Seeds that pools are taken from, made for the study."""
    pool: int = Field(ge=1)
    """Seeds in a pool; at least 1.5 N."""
    held_out: int = Field(ge=1)
    """Tasks of the evaluation, which no arm sees."""
    replicates: int = Field(ge=1)
    """Random seeds: each draws readers, pools, measurements and the luck of training anew."""
    in_turn: bool = False
    """Whether each replicate meets one kind of reader, the kinds taking turns, instead of all."""
    rollouts: int = Field(default=4, ge=1)
    """Rollouts of each seed of the pool that an arm which measures pays for; every budget has room for them."""
    edge: float = Field(default=0.03, gt=0, lt=0.5)
    """A seed counts as saturated for a regime where the reader's chance of taking every clause right is so close to 0
    or 1. That chance is worked out from its weights, without a rollout; no arm sees it."""
    attempts: int = Field(default=8, ge=1)
    """Rollouts of each held-out task."""
    looks: int = Field(default=4, ge=1)
    """Evaluations along a training, evenly spread, the last at its end."""
    draws: int = Field(default=3, ge=1)
    """Tries at a place before its candidate gives it up."""
    verification: Literal["full", "fast"] = "fast"
    """How candidates are verified."""
    seed: int = 0
    """Number that all randomness starts from."""
    learner: LearnerSettings = LearnerSettings()
    """Constants of the learner, the same for all arms; its seed and number of groups follow from the cell."""
    regimes: tuple[RegimeConfig, ...] = Field(min_length=1)
    readers: tuple[ReaderConfig, ...] = Field(min_length=1)
    arms: tuple[ArmConfig, ...] = Field(min_length=1)
    claims: tuple[str, ...] = ("forge",)
    """Arms that are held against the best fixed recipe."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.pool > self.seeds or self.pool < self.size:
            raise ValueError(f"a pool of {self.pool} does not fit between N = {self.size} and {self.seeds} seeds")
        if any((arm.rollouts or 0) > self.rollouts for arm in self.arms):
            raise ValueError(f"an arm with more than {self.rollouts} rollouts a seed: the budget has no room for them")
        for names in ([part.name for part in parts] for parts in (self.regimes, self.readers, self.arms)):
            if len(set(names)) < len(names):
                raise ValueError(f"a name twice among {', '.join(names)}")
        known = {regime.name for regime in self.regimes} | {reader.name for reader in self.readers}
        if strange := sorted({name for arm in self.arms for name in arm.only} - known):
            raise ValueError(f"neither a regime nor a reader: {', '.join(strange)}")
        claiming = self.claims if "claims" in self.model_fields_set else ()
        if strange := sorted(set(claiming) - {arm.name for arm in self.arms}):
            raise ValueError(f"claims of arms that are not there: {', '.join(strange)}")
        return self

    def readers_of(self, replicate: int) -> tuple[ReaderConfig, ...]:
        """The kinds of readers of a replicate."""
        return (self.readers[replicate % len(self.readers)],) if self.in_turn else self.readers

    def budget(self, regime: RegimeConfig) -> int:
        """Rollouts that every arm has, for measuring and training together."""
        return self.rollouts * self.pool + regime.passes * self.size * self.learner.group


def load_study(path: Path) -> StudyConfig:
    """The config of a TOML file.

    Raises:
        UserError: One line with everything that is wrong.
    """
    try:
        return StudyConfig.model_validate(read_toml(path))
    except ValidationError as error:
        faults = [f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors(include_url=False)]
        raise UserError(f"{path}: {'; '.join(faults)}") from error
