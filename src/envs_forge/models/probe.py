"""One small request before anything starts: does the endpoint answer, under which name, and does it take tools?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict

from envs_forge.errors import PrerequisiteError, UserError
from envs_forge.models.answer import Request
from envs_forge.models.client import ModelClient
from envs_forge.models.faults import EndpointError

_MESSAGE = {"role": "user", "content": "Reply with OK."}
_TOKENS = 16
_RETRIES = 1


class Probed(BaseModel):
    """What the endpoint showed. `model` is the name that it reported, or the asked one where it reports none."""

    model_config = ConfigDict(frozen=True)

    model: str
    takes_tools: bool


def probe(client: ModelClient, tools: Sequence[Mapping[str, Any]]) -> Probed:
    """Ask the endpoint once with tools, and where it refuses that, once without.

    Raises:
        UserError: Key, model or address are wrong.
        PrerequisiteError: Nothing answers there.
    """
    if tools:
        try:
            answer = client.ask(Request(messages=[_MESSAGE], tools=tools), max_tokens=_TOKENS, retries=_RETRIES)
            return Probed(model=answer.model or client.model, takes_tools=True)
        except EndpointError as error:
            if error.kind not in ("rejected", "server"):
                raise _told(client, error) from error
    try:
        answer = client.ask(Request(messages=[_MESSAGE]), max_tokens=_TOKENS, retries=_RETRIES)
    except EndpointError as error:
        raise _told(client, error) from error
    return Probed(model=answer.model or client.model, takes_tools=False)


def _told(client: ModelClient, error: EndpointError) -> UserError:
    if error.transient:
        return PrerequisiteError(f"{client.url}: {error.message}", fix="start the endpoint, or give --base-url")
    return UserError(f"{client.url}: {error.message}", fix=error.fix or "look at -m, --base-url and the sampling")
