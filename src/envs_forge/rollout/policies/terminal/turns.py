"""What is kept of each request of an attempt."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from envs_forge.models.answer import Answer, Token, ToolCall
from envs_forge.models.usage import Usage
from envs_forge.rollout.policies.terminal.decision import TurnOutcome


class Turn(BaseModel):
    """One answer and what it came to. `steps` is how many of the attempt's steps it made.

    `logprobs`, `token_ids` and `prompt_token_ids` are there where the endpoint gave them. `spoilt` has the codes of
    tries that failed before the answer, `lost_s` the seconds that they and the waits took.
    """

    model_config = ConfigDict(frozen=True)

    outcome: TurnOutcome
    steps: int
    text: str
    reasoning: str = ""
    calls: tuple[ToolCall, ...] = ()
    finish: str = ""
    model: str = ""
    usage: Usage
    duration_s: float
    lost_s: float = 0.0
    spoilt: tuple[str, ...] = ()
    logprobs: tuple[Token, ...] | None = None
    token_ids: tuple[int, ...] | None = None
    prompt_token_ids: tuple[int, ...] | None = None


def turn_of(answer: Answer, outcome: TurnOutcome, steps: int) -> Turn:
    """The record of an answer."""
    fields = {name: getattr(answer, name) for name in Turn.model_fields if name not in ("outcome", "steps")}
    return Turn(outcome=outcome, steps=steps, **fields)
