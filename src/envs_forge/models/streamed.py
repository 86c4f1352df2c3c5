"""Puts an answer that came as a stream of server-sent events together, as if it had come whole."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from envs_forge.models.faults import EndpointError
from envs_forge.models.reading import malformed
from envs_forge.models.wire import one_line, parsed

_TEXTS = ("content", "reasoning_content", "reasoning", "refusal")
_LISTS = ("token_ids", "prompt_token_ids")
_LINE_END = re.compile(r"\r\n|\n|\r")
"""Not `splitlines`: that ends lines at U+2028 and its like too, which JSON may hold as they are."""


def is_stream(text: str) -> bool:
    """Whether a response's text is a stream, asked for or not."""
    return text.lstrip().startswith(("data:", "event:", ":"))


def whole(text: str) -> dict[str, Any]:
    """The response as one document.

    Raises:
        EndpointError: The stream carries an error, or broke off before it said that the answer had ended.
    """
    document: dict[str, Any] = {}
    choice: dict[str, Any] = {"message": {}}
    for chunk in _chunks(text):
        if chunk.get("error"):
            raise EndpointError(
                f"the endpoint broke its stream off: {_told(chunk['error'])}", kind="stream", transient=True, paid=True
            )
        document |= {name: chunk[name] for name in ("model", "usage", "prompt_token_ids") if chunk.get(name)}
        choices = chunk.get("choices")
        if isinstance(choices, list) and choices and isinstance(choices[0], Mapping):
            _take(choice, choices[0])
    if not choice.get("finish_reason"):
        raise malformed("with a stream that broke off")
    return {**document, "choices": [choice]}


def _chunks(text: str) -> Iterator[Mapping[str, Any]]:
    for line in _LINE_END.split(text):
        if not line.startswith("data:") or (data := line.removeprefix("data:").strip()) == "[DONE]":
            continue
        try:
            chunk = parsed(data)
        except ValueError:
            raise malformed("with a stream that is no JSON") from None
        if isinstance(chunk, Mapping):
            yield chunk


def _take(choice: dict[str, Any], piece: Mapping[str, Any]) -> None:
    """Add one piece of the choice to what there is of it."""
    message, delta = choice["message"], piece.get("delta")
    if isinstance(delta, Mapping):
        for name in _TEXTS:
            if isinstance(delta.get(name), str):
                message[name] = message.get(name, "") + delta[name]
        calls = delta.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, Mapping):
                _add_call(message.setdefault("tool_calls", []), call)
    if piece.get("finish_reason"):
        choice["finish_reason"] = piece["finish_reason"]
    for name in _LISTS:
        if isinstance(piece.get(name), list):
            choice.setdefault(name, []).extend(piece[name])
    logprobs = piece.get("logprobs")
    content = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    if isinstance(content, list):
        choice.setdefault("logprobs", {"content": []})["content"].extend(content)


def _add_call(calls: list[dict[str, Any]], piece: Mapping[str, Any]) -> None:
    """A piece belongs to the call with its index; without an index, one with a name begins a new call."""
    function = piece.get("function")
    function = function if isinstance(function, Mapping) else {}
    place = piece.get("index")
    if not isinstance(place, int):
        place = len(calls) if function.get("name") or not calls else len(calls) - 1
    while len(calls) <= place < len(calls) + 64:
        calls.append({"id": "", "function": {"name": "", "arguments": ""}})
    if not 0 <= place < len(calls):
        raise malformed("with a stream whose calls have no order")
    call = calls[place]
    call["id"] = call["id"] or (piece["id"] if isinstance(piece.get("id"), str) else "")
    for name in ("name", "arguments"):
        if isinstance(function.get(name), str):
            call["function"][name] += function[name]


def _told(error: object) -> str:
    message = error.get("message") if isinstance(error, Mapping) else error
    return (one_line(message) if isinstance(message, str) else "") or "it did not say why"
