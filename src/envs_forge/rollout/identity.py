"""Stable keys and seeds: what makes two rollouts the same rollout."""

from __future__ import annotations

import hashlib
import json

from envs_forge.rollout.policy import PolicyIdentity
from envs_forge.rollout.trial import Trial

TrialKey = tuple[str, str, int]
"""Bundle hash, policy key, index: one rollout, whatever the number of tries at it."""


def policy_key(identity: PolicyIdentity) -> str:
    """Hex digest of an identity; independent of the order of its settings."""
    text = json.dumps(identity.model_dump(mode="json"), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def trial_key(trial: Trial) -> TrialKey:
    """The rollout that a trial is a try at."""
    return (trial.bundle_hash, policy_key(trial.policy), trial.index)


def trial_seed(bundle_hash: str, identity: PolicyIdentity, index: int) -> int:
    """Seed of one rollout in [0, 2**63): the same for every try at it, different for every other rollout."""
    text = f"{bundle_hash}\n{policy_key(identity)}\n{index}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1
