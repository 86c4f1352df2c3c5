"""Reads a response of an endpoint, which may be anything."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from envs_forge.models.answer import Answer, AnswerKind, Token, ToolCall
from envs_forge.models.faults import EndpointError
from envs_forge.models.usage import LARGEST, usage_of
from envs_forge.models.wire import storable

_CUT = frozenset({"length", "max_tokens"})
_FILTERED = frozenset({"content_filter", "refusal"})
_REASONING_FIELDS = ("reasoning_content", "reasoning")


def read_answer(raw: object) -> Answer:
    """What a response says.

    Raises:
        EndpointError: It is no response of the protocol; another try may help.
    """
    choice = _first_choice(raw)
    message = choice.get("message")
    if not isinstance(raw, Mapping) or not isinstance(message, Mapping):
        raise malformed("without a message")
    text, finish = _text(message.get("content")), _string(choice.get("finish_reason"))
    reasoning = next((_string(message[name]) for name in _REASONING_FIELDS if message.get(name)), "")
    calls, refusal = _calls(message.get("tool_calls")), _string(message.get("refusal"))
    answered = bool(text or reasoning or calls or refusal)
    return Answer(
        kind=_kind(text, calls, finish, refusal),
        text=text or refusal,
        reasoning=reasoning,
        calls=calls,
        finish=finish,
        usage=usage_of(raw.get("usage"), answered=answered),
        model=_string(raw.get("model")),
        logprobs=_logprobs(choice.get("logprobs")),
        token_ids=_ids(choice.get("token_ids")),
        prompt_token_ids=_ids(raw.get("prompt_token_ids")),
    )


def malformed(how: str) -> EndpointError:
    """The fault of a response that does not keep to the protocol. Tokens were probably spent on it."""
    return EndpointError(f"the endpoint answered {how}", kind="malformed", transient=True, paid=True)


def _first_choice(raw: object) -> Mapping[str, Any]:
    choices = raw.get("choices") if isinstance(raw, Mapping) else None
    if not isinstance(choices, Sequence) or isinstance(choices, str) or not choices:
        raise malformed("without choices")
    if not isinstance(choices[0], Mapping):
        raise malformed("with a choice that is no object")
    return choices[0]


def _kind(text: str, calls: Sequence[ToolCall], finish: str, refusal: str) -> AnswerKind:
    if refusal or finish in _FILTERED:
        return AnswerKind.REFUSED
    if finish in _CUT:
        return AnswerKind.CUT
    return AnswerKind.ANSWER if text.strip() or calls else AnswerKind.EMPTY


def _string(value: object) -> str:
    return storable(value) if isinstance(value, str) else ""


def _text(content: object) -> str:
    """Content is a string, or a list of parts of which the texts count."""
    if isinstance(content, Sequence) and not isinstance(content, str):
        return "".join(_string(part.get("text")) for part in content if isinstance(part, Mapping))
    return _string(content)


def _calls(raw: object) -> tuple[ToolCall, ...]:
    if not isinstance(raw, Sequence) or isinstance(raw, str):
        return ()
    found = []
    for number, item in enumerate(raw):
        function = item.get("function") if isinstance(item, Mapping) else None
        if isinstance(function, Mapping):
            name, arguments = _string(function.get("name")), _string(function.get("arguments"))
            found.append(ToolCall(id=_string(item.get("id")) or f"call_{number}", name=name, arguments=arguments))
    return tuple(found)


def _logprobs(raw: object) -> tuple[Token, ...] | None:
    """All tokens or none: a record with holes would be wrong for whoever trains on it."""
    content = raw.get("content") if isinstance(raw, Mapping) else None
    if not isinstance(content, Sequence) or isinstance(content, str) or not content:
        return None
    tokens = []
    for item in content:
        value = _finite(item.get("logprob")) if isinstance(item, Mapping) else None
        if value is None:
            return None
        tokens.append(Token(text=_string(item.get("token")), logprob=value))
    return tuple(tokens)


def _finite(value: object) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _ids(raw: object) -> tuple[int, ...] | None:
    if not isinstance(raw, Sequence) or isinstance(raw, str) or not raw:
        return None
    return tuple(raw) if all(type(value) is int and 0 <= value <= LARGEST for value in raw) else None
