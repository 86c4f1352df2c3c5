"""What a run is made of, as `lock.json`: versions, content hashes and identities. A resume compares it."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from importlib import metadata
from typing import Any

from pydantic import BaseModel, ConfigDict

from envs_forge import __version__
from envs_forge.config import OPERATIONAL, RunConfig, differing_keys
from envs_forge.errors import UserError
from envs_forge.rollout.policy import PolicyIdentity

INFORMATIVE = frozenset({"python", "platform", "solver"})
"""Keys of the lock that are kept for the record and may differ when a run is resumed."""

_SHOWN = 8


class RunLock(BaseModel):
    """What decides the outcome of a run beside its config."""

    model_config = ConfigDict(frozen=True)

    schema_version: int = 1
    version: str = __version__
    python: str = platform.python_version()
    platform: str = f"{platform.system()} {platform.machine()}".lower()
    solver: str
    engine: str
    policy: PolicyIdentity
    generator: str
    synthesis: Mapping[str, Any] = {}
    """Model, prompts and sampling of a generator that asks a model."""
    seeds: Mapping[str, str]
    """Content hashes by name."""


def solver_version() -> str:
    """Name and version of the integer programming solver."""
    return f"highspy {metadata.version('highspy')}"


def refuse_changes(
    began: Mapping[str, Any], config: RunConfig, lock: RunLock | None = None, *, run: str = "the run"
) -> None:
    """Refuse to go on with a run whose config or parts are not those that it began with.

    Args:
        began: Payload of its first session: `config` and `lock`.
        config: What it would go on with.
        lock: The same of its parts, when they are known already.
        run: Its name, for the message.

    Raises:
        UserError: One line with the keys that differ.
    """
    keys = [key for key in differing_keys(began["config"], config.model_dump(mode="json")) if key not in OPERATIONAL]
    if lock is not None:
        changed = differing_keys(began["lock"], lock.model_dump(mode="json"))
        keys += [key for key in changed if key not in INFORMATIVE]
    if keys:
        rest = len(keys) - _SHOWN
        named = ", ".join(keys[:_SHOWN]) + (f" and {rest} more" if rest > 0 else "")
        raise UserError(
            f"{run} cannot be resumed, this is not as it was when it began: {named}",
            fix="put it back or start a new run",
        )
