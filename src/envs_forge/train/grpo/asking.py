"""Lets the terminal agent ask a sampler as it asks an endpoint, and keeps the tokens."""

from __future__ import annotations

from envs_forge.models.answer import Answer, AnswerKind, Request
from envs_forge.models.faults import ContextExceededError
from envs_forge.models.settings import Sampling
from envs_forge.models.usage import Usage
from envs_forge.train.grpo.sampling import Sampler
from envs_forge.train.grpo.tokens import ChatPieces, TokenTrack


class TrackedAsking:
    """Asks a sampler for one episode. Implements `models.asking.Asking`.

    Args:
        sampler: Who answers.
        pieces: The chat template.
        sampling: How answers are drawn; its `max_tokens` is the longest answer.
        context_tokens: Most tokens of the episode.
    """

    def __init__(self, sampler: Sampler, pieces: ChatPieces, sampling: Sampling, context_tokens: int) -> None:
        self.sampling = sampling
        self.track = TokenTrack(pieces)
        self._sampler, self._tokenizer, self._context = sampler, pieces.tokenizer, context_tokens

    def ask(self, request: Request, *, max_tokens: int | None = None) -> Answer:
        """Sample the next answer of the conversation.

        Raises:
            ContextExceededError: No room is left for one.
            InfrastructureError: The sampler failed.
        """
        self.track.show(request.messages)
        prompt = self.track.ids
        room = min(max_tokens or self.sampling.max_tokens, self._context - len(prompt))
        if room < 1:
            raise ContextExceededError(f"{len(prompt)} tokens fill the context of {self._context}")
        sampled = self._sampler.sample(prompt, max_tokens=room, seed=request.seed or 0)
        self.track.sampled(sampled.ids, sampled.logprobs, ended=sampled.ended)
        text = str(self._tokenizer.decode(sampled.ids, skip_special_tokens=True))
        kind = AnswerKind.CUT if not sampled.ended else AnswerKind.ANSWER if text.strip() else AnswerKind.EMPTY
        return Answer(
            kind=kind,
            text=text,
            finish="stop" if sampled.ended else "length",
            usage=Usage(prompt_tokens=len(prompt), completion_tokens=len(sampled.ids)),
        )
