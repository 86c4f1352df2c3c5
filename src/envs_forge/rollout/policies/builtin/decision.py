"""One decision of the builtin policy: probabilities, the choice, and its gradient."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, log
from typing import Any

from pydantic import BaseModel, ConfigDict

from envs_forge.rollout.policies.builtin.parameters import BuiltinParameters, features
from envs_forge.rollout.policies.builtin.way import Way
from envs_forge.rollout.policies.builtin.ways import ways_by_id


class Decision(BaseModel):
    """Which way a clause was taken. Holds all that a learner needs, without a rerun.

    `features(way, words)` of the ways and `probabilities` give the gradient; see `gradient`.
    """

    model_config = ConfigDict(frozen=True)

    clause: int
    """Place of the sentence in the instruction, from 0."""
    words: tuple[str, ...]
    ways: tuple[str, ...]
    """Ids of the candidates."""
    probabilities: tuple[float, ...]
    chosen: int
    """Place of the choice among `ways`."""

    @property
    def way(self) -> str:
        """Id of the way that was taken."""
        return self.ways[self.chosen]

    @property
    def log_probability(self) -> float:
        """Natural logarithm of the choice's probability."""
        return log(self.probabilities[self.chosen])


def probabilities(ways: Sequence[Way], words: tuple[str, ...], parameters: BuiltinParameters) -> tuple[float, ...]:
    """Softmax over the candidates' logits at the policy's temperature."""
    logits = [
        sum(size * parameters.weight(name, way) for name, size in features(way, words, parameters).items())
        / parameters.temperature
        for way in ways
    ]
    top = max(logits)
    raised = [exp(logit - top) for logit in logits]
    total = sum(raised)
    return tuple(value / total for value in raised)


def gradient(decision: Decision, parameters: BuiltinParameters) -> dict[str, float]:
    """Gradient of the choice's log-probability with respect to the weights.

    `(features(chosen) − Σ p · features) / temperature`, from the probabilities as they were when the choice was made.
    """
    known = ways_by_id()
    slope: dict[str, float] = {}
    for place, (name, probability) in enumerate(zip(decision.ways, decision.probabilities, strict=True)):
        factor = ((place == decision.chosen) - probability) / parameters.temperature
        for feature, size in features(known[name], decision.words, parameters).items():
            slope[feature] = slope.get(feature, 0.0) + factor * size
    return slope


def decisions_of(extra: Mapping[str, Any]) -> tuple[Decision, ...]:
    """The decisions recorded in `Attempt.extra`."""
    return tuple(Decision.model_validate(record) for record in extra.get("decisions", ()))
