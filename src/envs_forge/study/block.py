"""What all arms of one regime, reader and replicate share: the reader, its pool, its measured rates, base figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from envs_forge.rollout.policies.builtin.clauses import Clause
from envs_forge.rollout.policies.builtin.reader import Option, understand
from envs_forge.run.parts import Options
from envs_forge.study.candidates import Candidates
from envs_forge.study.config import ReaderConfig, RegimeConfig, StudyConfig
from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.train.builtin.learner import TrainingTask
from envs_forge.train.builtin.measuring import Tally, tally
from envs_forge.train.builtin.sampler import Sampler, Vectors
from envs_forge.train.rewards.source import Rewards


@dataclass(frozen=True)
class Ground:
    """What a study stands on; the same for all its blocks."""

    config: StudyConfig
    seeds: Sequence[TrainingTask]
    held_out: Sequence[TrainingTask]
    options: Mapping[str, Options]
    """What the generator can do with each seed, by content hash."""
    candidates: Candidates
    rewards: Rewards


class Block:
    """One regime, reader and replicate.

    Args:
        ground: The study.
        regime: Which seeds, how long.
        reader: Which kind of base policy.
        replicate: Which random seed.
    """

    def __init__(self, ground: Ground, regime: RegimeConfig, reader: ReaderConfig, replicate: int) -> None:
        self.ground, self.regime, self.reader, self.replicate = ground, regime, reader, replicate
        self.parameters = reader.parameters(1000 * ground.config.seed + replicate)
        self.vectors = Vectors(self.parameters)
        self._rates: dict[int, list[Tally]] = {}

    def sampler(self) -> Sampler:
        """The untrained reader."""
        return Sampler(self.parameters, self.vectors)

    def evaluate(self, sampler: Sampler) -> list[Tally]:
        """The held-out tasks, with the same dice for every policy of this replicate."""
        ground = self.ground
        return tally(sampler, ground.held_out, ground.rewards, ground.config.attempts, self._label("held-out"))

    @cached_property
    def pool(self) -> list[TrainingTask]:
        """The seeds of this block: a random share of saturated ones and of others, by the reader's own chances."""
        config, sampler = self.ground.config, self.sampler()
        dice = Dice("study", "pool", config.seed, self.regime.name, self.reader.name, self.replicate)
        outer: list[TrainingTask] = []
        inner: list[TrainingTask] = []
        for task in dice.shuffled(self.ground.seeds):
            chance = chance_of_right(sampler, task.bundle.instruction)
            (outer if min(chance, 1.0 - chance) < config.edge else inner).append(task)
        return composed(outer, inner, config.pool, self.regime.saturated)

    def rates(self, rollouts: int) -> list[Tally]:
        """What arms that measure so often get to know of the pool; fewer rollouts are the first of more."""
        if rollouts not in self._rates:
            self._rates[rollouts] = tally(
                self.sampler(), self.pool, self.ground.rewards, rollouts, self._label("measure")
            )
        return self._rates[rollouts]

    @cached_property
    def base(self) -> list[Tally]:
        """The untrained reader on the held-out tasks."""
        return self.evaluate(self.sampler())

    def again(self, tasks: Sequence[TrainingTask], sampler: Sampler, rollouts: int) -> list[Tally]:
        """What a policy that was trained already makes of possible parents."""
        return tally(sampler, tasks, self.ground.rewards, rollouts, self._label("again"))

    def children(self, tasks: Sequence[TrainingTask], sampler: Sampler) -> list[Tally]:
        """The policy that a choice was made for on accepted environments: for calibration, paid by nobody."""
        size = self.ground.config.learner.group
        return tally(sampler, tasks, self.ground.rewards, size, self._label("children"))

    def _label(self, what: str) -> str:
        return f"study/{self.ground.config.seed}/{self.reader.name}/{self.replicate}/{what}"


def chance_of_right(sampler: Sampler, instruction: str) -> float:
    """The probability that a reading takes every clause in a way that means what it says: about its pass rate."""
    chance = 1.0

    def choose(place: int, clause: Clause, options: Sequence[Option]) -> int:
        nonlocal chance
        right = next((at for at, option in enumerate(options) if option.way.right), 0)
        chance *= sampler.probabilities(tuple(option.way for option in options), clause.words)[right]
        return right

    understand(instruction, choose)
    return chance


def saturated(rate: Tally) -> bool:
    """Whether all rollouts failed or all passed."""
    return rate.k in (0.0, float(rate.n))


def composed(
    outer: Sequence[TrainingTask], inner: Sequence[TrainingTask], size: int, share: float
) -> list[TrainingTask]:
    """A pool with that share of the outer ones, as near as there are enough of either kind."""
    wanted = round(share * size)
    wanted = min(max(wanted, size - len(inner)), len(outer))
    return [*outer[:wanted], *inner[: size - wanted]]
