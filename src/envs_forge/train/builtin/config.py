"""What a training of the builtin policy is asked for."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from envs_forge.errors import InvariantError, UserError
from envs_forge.rollout.policies.builtin.parameters import BuiltinParameters
from envs_forge.rollout.policies.builtin.policy import BuiltinPolicy
from envs_forge.rollout.policies.make import make_policy
from envs_forge.train.builtin.settings import LearnerSettings


class TrainingConfig(BaseModel):
    """What a training is asked for."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    policy: str = "builtin"
    """Where it starts: `builtin`, `builtin:PRESET` or `builtin:FILE`."""
    learner: LearnerSettings = LearnerSettings()
    """How it learns."""
    remember: bool = True
    """Whether the reward of something that was done before is remembered; else every rollout takes a container."""
    checkpoint_every: int = Field(default=5, ge=1)
    """Steps between checkpoints."""
    engine: Literal["auto", "oci", "docker"] = "auto"
    """Sandbox engine."""
    network: bool = True
    """Whether a bundle that asks for a network gets one."""
    concurrency: int | None = Field(default=None, ge=1)
    """Containers at once. None: one for each core."""


def start_of(policy: str) -> BuiltinParameters:
    """The parameters that a policy's name stands for.

    Raises:
        UserError: It is not the builtin policy, which is the only one that is trained here.
    """
    if policy.partition(":")[0] != "builtin":
        raise UserError(f"only the builtin policy can be trained, not {policy!r}", fix="give --policy builtin")
    made = make_policy(policy)
    if not isinstance(made, BuiltinPolicy):
        raise InvariantError(f"{policy} made a {type(made).__name__}")
    return made.parameters
