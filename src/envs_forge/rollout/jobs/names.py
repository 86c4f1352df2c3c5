"""Names and ids in a job directory, derived from what they name: writing the same trial twice writes one directory."""

from __future__ import annotations

import hashlib
import re
import uuid
from datetime import UTC, datetime

from envs_forge.rollout.identity import policy_key
from envs_forge.rollout.policy import PolicyIdentity
from envs_forge.rollout.trial import Trial

_ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_TASK_CHARACTERS = 32
_SUFFIX_CHARACTERS = 7
_NAMESPACE = uuid.UUID("6f1d3f3e-9a43-5d0e-8f2b-1f6c1f0a7c55")


def _address(trial: Trial) -> str:
    return f"{trial.bundle_hash}/{policy_key(trial.policy)}/{trial.index}/{trial.retry}"


def trial_name(trial: Trial) -> str:
    """`<task, at most 32 characters>__<7 characters>`, the latter a digest of bundle, policy, index and retry."""
    task = re.sub(r"[^A-Za-z0-9._-]", "_", trial.bundle_id)[:_TASK_CHARACTERS].rstrip("_-.") or "task"
    number = int.from_bytes(hashlib.sha256(_address(trial).encode()).digest(), "big")
    suffix = ""
    for _ in range(_SUFFIX_CHARACTERS):
        number, digit = divmod(number, len(_ALPHABET))
        suffix += _ALPHABET[digit]
    return f"{task}__{suffix}"


def trial_uuid(trial: Trial) -> str:
    """A UUID that belongs to this one try."""
    return str(uuid.uuid5(_NAMESPACE, _address(trial)))


def job_uuid(job_name: str, policy: str) -> str:
    """A UUID that belongs to this one job."""
    return str(uuid.uuid5(_NAMESPACE, f"{job_name}/{policy}"))


def job_name(when: datetime | None = None) -> str:
    """`YYYY-MM-DD__HH-MM-SS` in UTC."""
    return (when or datetime.now(UTC)).strftime("%Y-%m-%d__%H-%M-%S")


def agent_and_model(policy: PolicyIdentity) -> tuple[str, str | None]:
    """How readers name a policy: the agent, and the model that it asks, if any."""
    if policy.kind == "terminal":
        return policy.kind, policy.name
    model = policy.settings.get("model")
    return policy.name, model if isinstance(model, str) else None
