"""What a user types → a policy."""

from __future__ import annotations

from pathlib import Path

from envs_forge.config import AgentSettings, HarborSettings
from envs_forge.errors import UserError
from envs_forge.models.settings import EndpointSettings
from envs_forge.rollout.policies.command import CommandPolicy
from envs_forge.rollout.policies.nop import NopPolicy
from envs_forge.rollout.policies.oracle import OraclePolicy
from envs_forge.rollout.privileged import AnyPolicy

FORMS = "builtin, builtin:PRESET, builtin:FILE, terminal, oracle, nop, command:PATH or harbor:NAME"


def make_policy(
    spec: str,
    *,
    model: str | None = None,
    endpoint: EndpointSettings = EndpointSettings(),  # noqa: B008 - frozen
    agent: AgentSettings = AgentSettings(),  # noqa: B008 - frozen
    harbor: HarborSettings = HarborSettings(),  # noqa: B008 - frozen
) -> AnyPolicy:
    """Make the policy that `spec` names.

    Args:
        spec: One of `FORMS`.
        model: The model of a policy that has one.
        endpoint: Where that is served.
        agent: How it works.
        harbor: How Harbor's agents run.

    Raises:
        UserError: There is no such policy, its argument is wrong, or it lacks a model or has one too many.
        PrerequisiteError: The endpoint of its model does not answer, or Harbor cannot be installed.
    """
    if spec == "terminal":
        return _terminal(model, endpoint, agent)
    if spec.startswith("harbor:"):
        return _harbor(spec.removeprefix("harbor:"), model, endpoint, harbor)
    if model is not None:
        raise UserError(f"the policy {spec} has no model to choose", fix="leave out -m, or give --policy terminal")
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


def _terminal(model: str | None, endpoint: EndpointSettings, agent: AgentSettings) -> AnyPolicy:
    from envs_forge.rollout.policies.terminal.policy import TerminalPolicy

    if model is None:
        raise UserError("the policy terminal needs a model", fix="give -m MODEL")
    return TerminalPolicy(model, endpoint, agent)


def _harbor(agent: str, model: str | None, endpoint: EndpointSettings, harbor: HarborSettings) -> AnyPolicy:
    from envs_forge.rollout.policies.harbor.policy import HarborPolicy

    if not agent:
        raise UserError("harbor: needs the name of an agent", fix="--policy harbor:NAME, e.g. harbor:oracle")
    return HarborPolicy(agent, harbor, model=model, base_url=endpoint.base_url)


def _builtin(argument: str | None) -> AnyPolicy:
    from envs_forge.rollout.policies.builtin.parameters import Strength, preset
    from envs_forge.rollout.policies.builtin.policy import BuiltinPolicy
    from envs_forge.rollout.policies.builtin.stored import read_parameters

    if argument is None:
        return BuiltinPolicy()
    names = [name.value for name in Strength]
    if argument in names:
        return BuiltinPolicy(preset(argument))
    if "/" not in argument and not argument.endswith(".json"):
        raise UserError(
            f"the builtin policy has no preset {argument!r}", fix=f"give {', '.join(names)} or a parameters file"
        )
    return BuiltinPolicy(read_parameters(Path(argument)))
