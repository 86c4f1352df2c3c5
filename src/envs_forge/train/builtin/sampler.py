"""The builtin policy with weights that move: the same choices as `BuiltinPolicy`, many times over, and their gradient.

What is slow in the policy (features, the readers' patterns) does not depend on the weights and is worked out once.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp

from envs_forge.rollout.policies.builtin.clauses import Clause
from envs_forge.rollout.policies.builtin.parameters import BuiltinParameters, features
from envs_forge.rollout.policies.builtin.reader import Option, understand
from envs_forge.rollout.policies.builtin.way import Way

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One clause: the ways that fitted, their probabilities, and which was taken."""

    ways: tuple[Way, ...]
    words: Words
    probabilities: tuple[float, ...]
    chosen: int


@dataclass(frozen=True, slots=True)
class Sample:
    """One reading of an instruction: what would be run, and the choices that led there."""

    commands: tuple[str, ...]
    choices: tuple[Choice, ...]


class Vectors:
    """Feature vectors and initial logits of ways. They do not change, so samplers of one reader may share them.

    Args:
        parameters: The reader; what it has learned is left out.
    """

    def __init__(self, parameters: BuiltinParameters) -> None:
        self._untrained = parameters.model_copy(update={"weights": {}})
        self._known: dict[tuple[str, Words], tuple[float, tuple[tuple[str, float], ...]]] = {}

    def of(self, way: Way, words: Words) -> tuple[float, tuple[tuple[str, float], ...]]:
        """The untrained logit, before the temperature, and the features with their sizes."""
        key = (way.id, words)
        if (known := self._known.get(key)) is None:
            vector = features(way, words, self._untrained)
            initial = sum(size * self._untrained.weight(name, way) for name, size in vector.items())
            known = self._known[key] = (initial, tuple(vector.items()))
        return known


class Sampler:
    """Draws readings of instructions and moves the weights. Not for several threads at once.

    Args:
        parameters: Where the weights start.
        vectors: Of the same reader, where another sampler has worked them out.
    """

    def __init__(self, parameters: BuiltinParameters, vectors: Vectors | None = None) -> None:
        self._start = parameters
        self._weights = dict(parameters.weights)
        self._vectors = vectors or Vectors(parameters)
        self._chances: dict[tuple[tuple[str, ...], Words], tuple[float, ...]] = {}

    @property
    def parameters(self) -> BuiltinParameters:
        """The policy as it is now."""
        weights = {name: self._weights[name] for name in sorted(self._weights)}
        return BuiltinParameters(**{**self._start.model_dump(), "weights": weights})

    def sample(self, instruction: str, dice: random.Random) -> Sample:
        """Read an instruction once."""
        choices: list[Choice] = []

        def choose(place: int, clause: Clause, options: Sequence[Option]) -> int:
            ways = tuple(option.way for option in options)
            chances = self.probabilities(ways, clause.words)
            chosen = _draw(chances, dice.random())
            choices.append(Choice(ways, clause.words, chances, chosen))
            return chosen

        jobs, _ = understand(instruction, choose)
        return Sample(tuple(job.command() for job in jobs), tuple(choices))

    def probabilities(self, ways: tuple[Way, ...], words: Words) -> tuple[float, ...]:
        """Softmax over the ways at the policy's temperature, with the weights as they are now."""
        key = (tuple(way.id for way in ways), words)
        if (known := self._chances.get(key)) is None:
            logits = [self._logit(way, words) for way in ways]
            top = max(logits)
            raised = [exp(logit - top) for logit in logits]
            total = sum(raised)
            known = self._chances[key] = tuple(value / total for value in raised)
        return known

    def add_gradient(self, slope: dict[str, float], sample: Sample, factor: float) -> None:
        """Add `factor` times the gradient of the log-probability of a sample's choices, taken at its probabilities.

        For each choice `(features(chosen) − Σ p · features) / temperature`; see `decision.gradient`.
        """
        factor /= self._start.temperature
        for choice in sample.choices:
            for place, (way, chance) in enumerate(zip(choice.ways, choice.probabilities, strict=True)):
                weight = factor * ((place == choice.chosen) - chance)
                for name, size in self._vectors.of(way, choice.words)[1]:
                    slope[name] = slope.get(name, 0.0) + weight * size

    def move(self, slope: Mapping[str, float], rate: float) -> None:
        """Add `rate` times `slope` to the weights."""
        for name, value in slope.items():
            self._weights[name] = self._weights.get(name, 0.0) + rate * value
        self._chances.clear()

    def _logit(self, way: Way, words: Words) -> float:
        initial, vector = self._vectors.of(way, words)
        learned = sum(size * self._weights.get(name, 0.0) for name, size in vector) if self._weights else 0.0
        return (initial + learned) / self._start.temperature


def _draw(chances: Sequence[float], point: float) -> int:
    """The place whose share of [0, 1) holds the point."""
    for place, chance in enumerate(chances):
        point -= chance
        if point < 0:
            return place
    return len(chances) - 1
