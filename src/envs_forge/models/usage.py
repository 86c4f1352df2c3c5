"""Tokens as the provider counted them. Missing or contradictory counts are unknown (None), never 0."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict

LARGEST = 2**40
"""No number of tokens is larger, nor is the number of a token; larger ones would not fit where they are kept."""


class Usage(BaseModel):
    """Tokens of one call. Cached tokens are part of the prompt's, reasoning tokens part of the completion's."""

    model_config = ConfigDict(frozen=True)

    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None

    @property
    def known(self) -> bool:
        """Whether prompt and completion were both counted."""
        return self.prompt_tokens is not None and self.completion_tokens is not None


class UsageTotal(BaseModel):
    """Tokens of many calls. The sums are over the calls whose usage is known; `unknown_calls` says how many were not.

    `cached_tokens` and `reasoning_tokens` are None when no call reported any.
    """

    model_config = ConfigDict(frozen=True)

    calls: int = 0
    unknown_calls: int = 0
    prompt_tokens: int = 0
    cached_tokens: int | None = None
    completion_tokens: int = 0
    reasoning_tokens: int | None = None

    @property
    def complete(self) -> bool:
        """Whether the sums are all that was used."""
        return self.calls > 0 and self.unknown_calls == 0

    def plus(self, usage: Usage) -> UsageTotal:
        """With one more call."""
        if usage.prompt_tokens is None or usage.completion_tokens is None:
            return self.plus_unknown(1)
        return UsageTotal(
            calls=self.calls + 1,
            unknown_calls=self.unknown_calls,
            prompt_tokens=self.prompt_tokens + usage.prompt_tokens,
            cached_tokens=_sum(self.cached_tokens, usage.cached_tokens),
            completion_tokens=self.completion_tokens + usage.completion_tokens,
            reasoning_tokens=_sum(self.reasoning_tokens, usage.reasoning_tokens),
        )

    def plus_unknown(self, calls: int) -> UsageTotal:
        """With calls that nobody counted."""
        return self.model_copy(update={"calls": self.calls + calls, "unknown_calls": self.unknown_calls + calls})


def usage_of(raw: object, *, answered: bool) -> Usage:
    """Read the `usage` of a response.

    A count is taken only if it is a whole number that can be true. A total that is not prompt and completion makes
    both unknown, unless the difference is exactly the reasoning, which some providers leave out of the completion.

    Args:
        raw: As it came.
        answered: Whether any text, reasoning or call came with it; then no completion has 0 tokens.
    """
    if not isinstance(raw, Mapping):
        return Usage()
    prompt, completion = _count(raw.get("prompt_tokens")), _count(raw.get("completion_tokens"))
    reasoning = _detail(raw, "completion_tokens_details", "reasoning_tokens")
    cached = _detail(raw, "prompt_tokens_details", "cached_tokens")
    if not prompt or completion is None or (answered and completion == 0):
        return Usage()
    total = _count(raw.get("total_tokens")) if raw.get("total_tokens") is not None else prompt + completion
    if total != prompt + completion:
        if not reasoning or total != prompt + completion + reasoning:
            return Usage()
        completion += reasoning
    return Usage(
        prompt_tokens=prompt,
        cached_tokens=cached if cached is None or cached <= prompt else None,
        completion_tokens=completion,
        reasoning_tokens=reasoning if reasoning is None or reasoning <= completion else None,
    )


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST else None


def _detail(raw: Mapping[str, Any], table: str, name: str) -> int | None:
    details = raw.get(table)
    return _count(details.get(name)) if isinstance(details, Mapping) else None


def _sum(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else one + other
