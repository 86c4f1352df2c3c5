"""What a user types → a policy."""

from __future__ import annotations

from pathlib import Path

from envs_forge.errors import UserError
from envs_forge.rollout.policies.command import CommandPolicy
from envs_forge.rollout.policies.nop import NopPolicy
from envs_forge.rollout.policies.oracle import OraclePolicy
from envs_forge.rollout.privileged import AnyPolicy

FORMS = "builtin, builtin:PRESET, oracle, nop or command:PATH"


def make_policy(spec: str) -> AnyPolicy:
    """Make the policy that `spec` names.

    Args:
        spec: One of `FORMS`.

    Raises:
        UserError: There is no such policy, or its argument is wrong.
    """
    kind, colon, argument = spec.partition(":")
    if kind == "builtin":
        return _builtin(argument if colon else None)
    if kind == "command":
        if not argument:
            raise UserError("command: needs the path of a program", fix="--policy command:PATH")
        return CommandPolicy(Path(argument))
    if spec == "oracle":
        return OraclePolicy()
    if spec == "nop":
        return NopPolicy()
    raise UserError(f"no policy {spec!r}", fix=f"give {FORMS}")


def _builtin(strength: str | None) -> AnyPolicy:
    from envs_forge.rollout.policies.builtin.parameters import Strength, preset
    from envs_forge.rollout.policies.builtin.policy import BuiltinPolicy

    if strength is None:
        return BuiltinPolicy()
    names = [name.value for name in Strength]
    if strength not in names:
        raise UserError(f"the builtin policy has no preset {strength!r}", fix=f"give {', '.join(names)}")
    return BuiltinPolicy(preset(strength))
