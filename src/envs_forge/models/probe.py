"""One small request before anything starts: does the endpoint answer, under which name, and does it take tools?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict

from envs_forge.errors import PrerequisiteError, UserError
from envs_forge.models.answer import Answer, AnswerKind, Request
from envs_forge.models.client import ModelClient
from envs_forge.models.faults import EndpointError

_TOKENS = 64
_RETRIES = 1


class Probed(BaseModel):
    """What the endpoint showed. `model` is the name that it reported, or the asked one where it reports none."""

    model_config = ConfigDict(frozen=True)

    model: str
    takes_tools: bool


def probe(client: ModelClient, tools: Sequence[Mapping[str, Any]]) -> Probed:
    """Ask the endpoint for a call of the first tool, and where it refuses tools, once without.

    Some endpoints take tools for models that write their calls into the text: a whole answer without a call says so.

    Raises:
        UserError: Key, model or address are wrong.
        PrerequisiteError: Nothing answers there.
    """
    if tools:
        name = tools[0]["function"]["name"]
        try:
            answer = _ask(client, f"Call the tool `{name}` with the command: true", tools)
            takes = bool(answer.calls) or answer.kind is not AnswerKind.ANSWER
            return Probed(model=answer.model or client.model, takes_tools=takes)
        except EndpointError as error:
            if error.kind not in ("rejected", "server"):
                raise _told(client, error) from error
    try:
        answer = _ask(client, "Reply with OK.")
    except EndpointError as error:
        raise _told(client, error) from error
    return Probed(model=answer.model or client.model, takes_tools=False)


def _ask(client: ModelClient, text: str, tools: Sequence[Mapping[str, Any]] = ()) -> Answer:
    """The likeliest answer, so that the same endpoint gives the same; a drawn one where it takes no temperature."""
    request = Request(messages=[{"role": "user", "content": text}], tools=tools)
    if client.sampling.temperature is not None:
        try:
            cold = request.model_copy(update={"temperature": 0.0})
            return client.ask(cold, max_tokens=_TOKENS, retries=_RETRIES)
        except EndpointError as error:
            if error.kind != "rejected" or "temperature" not in error.message:
                raise
    return client.ask(request, max_tokens=_TOKENS, retries=_RETRIES)


def _told(client: ModelClient, error: EndpointError) -> UserError:
    if error.transient:
        return PrerequisiteError(f"{client.url}: {error.message}", fix="start the endpoint, or give --base-url")
    return UserError(f"{client.url}: {error.message}", fix=error.fix or "look at -m, --base-url and the sampling")
