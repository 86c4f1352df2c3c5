"""What a user may set about an endpoint and about sampling."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from envs_forge.models.key import fault_of_url, may_hold_secret

_ONE = "leave it out, one answer is asked for at a time"
_LIMIT = "set `sampling.max_tokens`"
_PROMPT = "leave it out, what is asked is the program's own"
_NOT_EXTRA = {
    "max_tokens": _LIMIT,
    "max_completion_tokens": _LIMIT,
    "max_new_tokens": _LIMIT,
    "max_output_tokens": _LIMIT,
    "n_predict": _LIMIT,
    "n": _ONE,
    "best_of": _ONE,
    "num_return_sequences": _ONE,
    "temperature": "set `sampling.temperature`",
    "top_p": "set `sampling.top_p`",
    "seed": "see `sampling.send_seed`",
    "logprobs": "set `sampling.logprobs`",
    "stream": "set `endpoint.stream`",
    "stream_options": "set `endpoint.stream`",
    "model": "name the model by its own setting",
    "models": "name the model by its own setting",
    "messages": _PROMPT,
    "tools": _PROMPT,
    "functions": _PROMPT,
}
"""Fields that would undo a setting, or make a request dearer than was reserved for it, and what to do instead."""


class EndpointSettings(BaseModel):
    """Where a model is served and how patient we are with it. Nothing here changes what the model answers."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True, hide_input_in_errors=True)

    base_url: str | None = None
    """Address of an OpenAI-compatible API. None: `OPENAI_BASE_URL` of the environment, else OpenAI's own."""
    key_variable: str = Field(default="OPENAI_API_KEY", pattern=r"(?i)^(\w+_)?(key|token|secret)$")
    """Name of the environment variable that holds the key; keys themselves are never configured."""
    timeout_s: float = Field(default=300.0, gt=0, allow_inf_nan=False)
    """Seconds for one whole answer; then the endpoint hangs, and the request is tried again."""
    retries: int = Field(default=5, ge=0)
    """Further tries at a request that a transient fault spoilt."""
    pause_s: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    """Seconds before the first of them; each further pause is twice as long. Retry-After wins where it is longer."""
    pause_cap_s: float = Field(default=60.0, ge=0, allow_inf_nan=False)
    """Longest pause of our own making."""
    retry_after_cap_s: float = Field(default=600.0, ge=0, allow_inf_nan=False)
    """Longest Retry-After that is waited for; until a longer one is over, requests end as faults without being sent."""
    stream: bool = False
    """Ask for answers as streams: for endpoints that give no others, and for proxies that cut silent connections."""
    in_flight: int | None = Field(default=None, ge=1)
    """Requests under way at once. None: as many as there are rollouts."""
    tokens_per_minute: int | None = Field(default=None, ge=1)
    """Tokens, prompt and completion together, that may be asked for within any minute. None: no limit."""

    @field_validator("base_url")
    @classmethod
    def _may_be_stored(cls, url: str | None) -> str | None:
        """Other faults are told by the client, which knows the flag that the address was given by."""
        fault = fault_of_url(url) if url and may_hold_secret(url) else None
        if fault is not None:
            raise ValueError("{} ({})".format(*fault))
        return url


class PriceSettings(BaseModel):
    """What tokens cost, in US dollars a million. What is None is not known, which is not the same as free."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    prompt: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Tokens of the prompt."""
    cached: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Tokens of the prompt that the provider had in its cache. None: as much as others."""
    completion: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Tokens of the answer, reasoning among them."""

    def cost(self, prompt: int, completion: int, cached: int = 0) -> float | None:
        """Dollars for so many tokens, `cached` of them part of the prompt's; None where a price is not known."""
        if self.prompt is None or self.completion is None:
            return None
        discount = 0.0 if self.cached is None else cached * (self.prompt - self.cached)
        return max(0.0, prompt * self.prompt - discount + completion * self.completion) / 1e6

    def worst(self, prompt: int, completion: int) -> float | None:
        """Dollars for so many tokens at most, however many of the prompt's turn out to be cached, at whatever price."""
        dearer = self.cached is not None and self.prompt is not None and self.cached > self.prompt
        return self.cost(prompt, completion, prompt if dearer else 0)


class Sampling(BaseModel):
    """How answers are drawn. All of it is part of the policy's identity."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    temperature: float | None = Field(default=1.0, ge=0, allow_inf_nan=False)
    """None leaves it to the endpoint."""
    top_p: float | None = Field(default=None, gt=0, le=1)
    """None leaves it to the endpoint."""
    max_tokens: int = Field(default=4096, ge=1)
    """Most tokens of one answer, reasoning included."""
    send_seed: bool = True
    """Whether each request carries a seed that follows from the rollout's."""
    logprobs: bool = False
    """Whether log-probabilities and token ids are asked for; they are kept with the trial where they come."""
    extra: Mapping[str, Any] = {}
    """Further fields of the request's body as the endpoint takes them, e.g. `top_k` or `chat_template_kwargs`."""

    @field_validator("extra")
    @classmethod
    def _leaves_the_rest_alone(cls, extra: Mapping[str, Any]) -> Mapping[str, Any]:
        refused = [f"`{name}` cannot be set there: {_NOT_EXTRA[name]}" for name in extra if name in _NOT_EXTRA]
        if refused:
            raise ValueError("; ".join(refused))
        return extra
