"""An answer of a model, as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict

from envs_forge.models.usage import Usage

Message = Mapping[str, Any]
"""One message of a conversation, as the protocol has it."""


class AnswerKind(StrEnum):
    """What kind of answer came. Only `answer` may be acted upon."""

    ANSWER = "answer"
    EMPTY = "empty"
    CUT = "cut"
    REFUSED = "refused"


class ToolCall(BaseModel):
    """A call of a tool. `arguments` is what the model wrote, hopefully JSON."""

    model_config = ConfigDict(frozen=True)

    id: str
    name: str
    arguments: str


class Token(BaseModel):
    """One sampled token with its log-probability."""

    model_config = ConfigDict(frozen=True)

    text: str
    logprob: float


class Answer(BaseModel):
    """What one request gave, after however many tries.

    Attributes:
        kind: See `AnswerKind`.
        text: The visible text; empty where there is none.
        reasoning: What the endpoint gave apart as the model's reasoning.
        calls: Calls of tools.
        finish: The endpoint's `finish_reason`.
        usage: Tokens of the try that answered.
        model: The name that the endpoint reported.
        logprobs: Sampled tokens, where the endpoint gave them.
        token_ids: Ids of the sampled tokens, where it gave them.
        prompt_token_ids: Ids of the prompt's tokens, where it gave them.
        duration_s: Seconds of the try that answered.
        lost_s: Seconds that spoilt tries and the waits after them took.
        spoilt: Codes of the tries before it.
        unknown_calls: How many of those may have been paid without being counted.
    """

    model_config = ConfigDict(frozen=True)

    kind: AnswerKind
    text: str = ""
    reasoning: str = ""
    calls: tuple[ToolCall, ...] = ()
    finish: str = ""
    usage: Usage = Usage()
    model: str = ""
    logprobs: tuple[Token, ...] | None = None
    token_ids: tuple[int, ...] | None = None
    prompt_token_ids: tuple[int, ...] | None = None
    duration_s: float = 0.0
    lost_s: float = 0.0
    spoilt: tuple[str, ...] = ()
    unknown_calls: int = 0


class Request(BaseModel):
    """What is asked for.

    Attributes:
        messages: The conversation.
        tools: Tools that the model may call, as the protocol has them.
        seed: For the endpoint's sampling, where it takes one.
        temperature: Instead of the sampling's.
    """

    model_config = ConfigDict(frozen=True)

    messages: Sequence[Message]
    tools: Sequence[Mapping[str, Any]] = ()
    seed: int | None = None
    temperature: float | None = None
