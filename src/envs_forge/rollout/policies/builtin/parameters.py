"""Parameters of the builtin policy: an untrained reader's habits drawn from a seed, and what training added.

The initial weights are the policy's "pre-training". They are drawn, not tuned: the skill logit of each operation and
each detail is normal with the preset's mean and spread, partly shared between operations that have the same detail,
and every word shifts it a little, so that the same constraint in other words is read with another probability.
Nothing here depends on tasks, actions or recipes; the presets' means were chosen once, so that the medium reader's pass
rates on the bundled pool spread over all of [0, 1].
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property
from math import sqrt
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from envs_forge.rollout.policies.builtin.way import Way


class Strength(StrEnum):
    """Named base policies. They differ in the mean skill logit only."""

    WEAK = "weak"
    MEDIUM = "medium"
    STRONG = "strong"


MEANS: Mapping[Strength, float] = {Strength.WEAK: 2.5, Strength.MEDIUM: 4.0, Strength.STRONG: 5.5}


class BuiltinParameters(BaseModel):
    """Everything that the policy's behaviour depends on."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    strength: str = Strength.MEDIUM.value
    """Name for people."""
    seed: int = 0
    """Which reader of this strength: draws the initial weights."""
    mean: float = MEANS[Strength.MEDIUM]
    """Mean of the skill logits."""
    spread: float = Field(default=2.0, ge=0)
    """Standard deviation of the skill logits."""
    shared: float = Field(default=0.5, ge=0, le=1)
    """Share of a detail's skill logit (of its variance) that is common to all operations that have it."""
    slip_spread: float = Field(default=0.5, ge=0)
    """Standard deviation of the logits of wrong ways."""
    word_noise: float = Field(default=1.0, ge=0)
    """How much the words of a clause shift a logit (standard deviation over clauses)."""
    cue: float = Field(default=4.0, ge=0)
    """Weight of a word that makes one think of an operation or detail."""
    transfer_family: float = Field(default=0.5, ge=0)
    """Size of the features that an operation's detail shares with the same detail elsewhere. 0: no transfer."""
    transfer_stance: float = Field(default=0.15, ge=0)
    """Size of the features that all details share: attention to constraints as such. 0: no transfer."""
    temperature: float = Field(default=1.0, gt=0)
    """Sampling temperature."""
    weights: Mapping[str, float] = {}
    """What training added to the initial weights, by feature."""

    @cached_property
    def digest(self) -> str:
        """Hex digest of all of it."""
        text = json.dumps(self.model_dump(mode="json"), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    @cached_property
    def _drawn(self) -> dict[str, float]:
        return {}

    def weight(self, feature: str, way: Way) -> float:
        """Initial weight of a way's feature plus what was learned."""
        if (initial := self._drawn.get(feature)) is None:
            initial = self._drawn[feature] = self._initial(feature, way)
        return initial + self.weights.get(feature, 0.0)

    def _initial(self, feature: str, way: Way) -> float:
        """Draw one weight. Shared features begin at 0: what is shared at the start is in the skill logits."""
        if not feature.startswith("way:"):
            return 0.0
        _, _, word = feature.partition("|")
        if word:
            return self.word_noise * self._normal(feature) + (self.cue if word in way.cues else 0.0)
        if not way.right:
            return self.slip_spread * self._normal(feature)
        common, own = self._normal(f"family:{way.family}"), self._normal(feature)
        return self.mean + self.spread * (sqrt(self.shared) * common + sqrt(1 - self.shared) * own)

    def _normal(self, label: str) -> float:
        """A standard normal number that depends on seed and label only."""
        dice = random.Random(f"{self.seed}/{label}")
        return sum(dice.random() for _ in range(12)) - 6.0


def preset(strength: Strength | str = Strength.MEDIUM, *, seed: int = 0, **changes: Any) -> BuiltinParameters:
    """Parameters of a named strength."""
    chosen = Strength(strength)
    return BuiltinParameters(**{"strength": chosen.value, "seed": seed, "mean": MEANS[chosen], **changes})


def features(way: Way, words: tuple[str, ...], parameters: BuiltinParameters) -> dict[str, float]:
    """The feature vector of taking a clause with these words in this way."""
    each = 1.0 / sqrt(len(words)) if words else 0.0
    name = way.id.rpartition("/")[2]
    levels = [(f"way:{way.id}", 1.0)]
    if way.family != way.id.partition("/")[0]:
        levels.append((f"family:{way.family}/{name}", parameters.transfer_family))
        levels.append((f"stance:{way.stance.value}", parameters.transfer_stance))
    vector: dict[str, float] = {}
    for level, size in levels:
        if size:
            vector[level] = size
            vector.update((f"{level}|{word}", size * each) for word in words)
    return vector
