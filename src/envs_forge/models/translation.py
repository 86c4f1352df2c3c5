"""The openai client's exceptions → our typed faults."""

from __future__ import annotations

import json
from collections.abc import Mapping

import httpx2
import openai

from envs_forge.errors import ForgeError
from envs_forge.models.faults import ContextExceededError, EndpointError, PromptRefusedError
from envs_forge.models.retrying import retry_after
from envs_forge.models.usage import Usage, usage_of
from envs_forge.models.wire import one_line, parsed

_TRANSIENT = frozenset({408, 409, 425, 429})
_CONTEXT_STATUS = frozenset({400, 413, 422, 500})
_CONTEXT_SIGNS = (
    "context_length_exceeded",
    "exceed_context_size",
    "maximum context length",
    "context length exceeded",
    "context size",
    "context window",
    "maximum model length",
    "prompt is too long",
)
_REFUSED_STATUS = frozenset({400, 403, 422})
_REFUSED_CODES = frozenset(
    {"content_filter", "content_policy_violation", "responsibleaipolicyviolation", "data_inspection_failed"}
)
_REFUSED_SIGNS = (
    "content management policy",
    "violating our usage policy",
    "contentpolicyviolationerror",
    "content exists risk",
)
"""For providers and gateways that give no code, or one that says other things too."""


def translated(error: openai.APIError, *, key_variable: str, flags: str) -> ForgeError:
    """The fault that an exception of the client stands for.

    Args:
        error: What the client raised.
        key_variable: The variable that holds the key.
        flags: What a user gives the model and its address by.
    """
    if isinstance(error, openai.APITimeoutError):
        return _timeout()
    if isinstance(error, openai.APIStatusError):
        return _of_status(error, key_variable, flags)
    return broken(error.__cause__ or error)


def broken(cause: BaseException) -> EndpointError:
    """The fault of a connection that was not to be had, or ended before the response did."""
    if isinstance(cause, httpx2.TimeoutException):
        return _timeout()
    # Of these two nothing was sent.
    unpaid = isinstance(cause, httpx2.ConnectError | httpx2.LocalProtocolError)
    message = f"no connection to the endpoint: {one_line(str(cause))}"
    return EndpointError(message, kind="connection", transient=True, paid=not unpaid)


def _timeout() -> EndpointError:
    return EndpointError("the endpoint did not answer in time", kind="timeout", transient=True, paid=True)


def _of_status(error: openai.APIStatusError, key_variable: str, flags: str) -> ForgeError:
    status, said = error.status_code, one_line(_body(error))
    message = f"the endpoint answered {status}: {said}"
    if status in _CONTEXT_STATUS and any(sign in said.lower() for sign in _CONTEXT_SIGNS):
        return ContextExceededError(said)
    if status in _REFUSED_STATUS and _is_refusal(error):
        return PromptRefusedError(_words(error), _usage(error))
    if status == 429 and error.code == "insufficient_quota":
        return EndpointError(message, kind="quota", fix="see the account at the provider")
    if status in _TRANSIENT or status >= 500:
        kind = "rate-limit" if status == 429 else "server"
        wait = retry_after(error.response.headers)
        return EndpointError(message, kind=kind, transient=True, retry_after_s=wait, paid=status >= 500)
    if status in (401, 403):
        return EndpointError(message, kind="auth", fix=f"set {key_variable}")
    if status == 404:
        return EndpointError(message, kind="not-found", fix=f"look at {flags}")
    return EndpointError(message, kind="rejected")


def _is_refusal(error: openai.APIStatusError) -> bool:
    """Whether the prompt was filtered: its author's affair, of which other prompts know nothing."""
    table = error.body if isinstance(error.body, Mapping) else {}
    inner = table.get("innererror")
    codes = (table.get("code"), table.get("type"), inner.get("code") if isinstance(inner, Mapping) else None)
    if any(isinstance(code, str) and code.lower() in _REFUSED_CODES for code in codes):
        return True
    return any(sign in _words(error).lower() for sign in _REFUSED_SIGNS)


def _words(error: openai.APIStatusError) -> str:
    """The sentence in what the endpoint said; all of it where there is none."""
    message = error.body.get("message") if isinstance(error.body, Mapping) else None
    return one_line(message if isinstance(message, str) and message.strip() else _body(error))


def _usage(error: openai.APIStatusError) -> Usage:
    try:
        raw = parsed(error.response.text)
    except ValueError:
        return Usage()
    return usage_of(raw.get("usage"), answered=False) if isinstance(raw, Mapping) else Usage()


def _body(error: openai.APIStatusError) -> str:
    """What the endpoint said, with its codes."""
    body = error.body
    if isinstance(body, str):
        return body
    try:
        return json.dumps(body, ensure_ascii=False) if body else error.message
    except RecursionError:
        # The client read it at less depth of the stack than ours is.
        return error.message
