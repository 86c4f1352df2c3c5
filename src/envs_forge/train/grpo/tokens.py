"""One episode as tokens, without ever tokenising again what the model sampled.

Text that is decoded and tokenised anew need not give the tokens that were sampled, and a gradient on other tokens is
the gradient of something that never happened. So the sampled ids are kept as they are, and only what the environment
says is tokenised, as the piece that the chat template puts behind an answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, cast

from envs_forge.errors import UserError

Message = Mapping[str, Any]
_MARK = "\u2402answer\u2402"


class Tokenizer(Protocol):
    """What is used of a tokenizer of transformers."""

    eos_token: str
    eos_token_id: int

    def apply_chat_template(self, conversation: Any, **options: Any) -> Any:
        """Text or ids of a conversation."""
        ...

    def encode(self, text: str, **options: Any) -> list[int]:
        """Ids of a text."""
        ...

    def decode(self, token_ids: Any, **options: Any) -> Any:
        """Text of ids."""
        ...


class ChatPieces:
    """Ids of the pieces that a chat template makes of a conversation.

    Args:
        tokenizer: With a chat template.

    Raises:
        UserError: It has none, or one that rewrites earlier turns when later ones come.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self._base: list[Message] = [{"role": "user", "content": "task"}, {"role": "assistant", "content": _MARK}]
        try:
            before = self._text(self._base, more=False)
        except ValueError as error:
            raise UserError("the tokenizer has no chat template", fix="train an instruct model") from error
        self._before = before
        _, found, self._closing = before.rpartition(_MARK)
        after = self._text([*self._base, {"role": "user", "content": "next"}], more=True)
        if not found or not after.startswith(before):
            raise UserError(
                "the chat template rewrites earlier turns when later ones come, so that episodes of several "
                "turns cannot be trained on",
                fix="give the tokenizer a template that only appends",
            )

    def opening(self, messages: Sequence[Message]) -> list[int]:
        """Ids of the prompt of a first answer."""
        return self._ids(self._text(messages, more=True))

    def between(self, messages: Sequence[Message], *, ended: bool) -> list[int]:
        """Ids between one answer and the next.

        Args:
            messages: What the environment says; roles other than `assistant`.
            ended: Whether the answer before them ended with the end-of-turn token, which then is not repeated.
        """
        whole = self._text([*self._base, *messages], more=True)
        piece = self._closing + whole[len(self._before) :]
        end = self.tokenizer.eos_token
        return self._ids(piece.removeprefix(end) if ended and end else piece)

    def _text(self, messages: Sequence[Message], *, more: bool) -> str:
        plain = [dict(message) for message in messages]
        return cast(str, self.tokenizer.apply_chat_template(plain, tokenize=False, add_generation_prompt=more))

    def _ids(self, text: str) -> list[int]:
        return list(self.tokenizer.encode(text, add_special_tokens=False))


class TokenTrack:
    """The tokens of one episode while it runs.

    Attributes:
        prompt_ids: Before the first answer.
        completion_ids: All after it, answers and what came between them.
        mask: 1 for each sampled id of `completion_ids`, 0 for each that the environment gave.
        logprobs: Of the sampled ids under the sampling temperature, 0.0 for the others.
    """

    def __init__(self, pieces: ChatPieces) -> None:
        self._pieces = pieces
        self._seen = 0
        self._ended = True
        self.prompt_ids: list[int] = []
        self.completion_ids: list[int] = []
        self.mask: list[int] = []
        self.logprobs: list[float] = []

    @property
    def ids(self) -> list[int]:
        """All of them, as the model sees them."""
        return self.prompt_ids + self.completion_ids

    def show(self, messages: Sequence[Message]) -> None:
        """Bring the track up to a conversation that only ever grows, before the next answer is sampled."""
        if not self._seen:
            self.prompt_ids = self._pieces.opening(messages)
        else:
            new = [message for message in messages[self._seen :] if message["role"] != "assistant"]
            ids = self._pieces.between(new, ended=self._ended)
            self.completion_ids += ids
            self.mask += [0] * len(ids)
            self.logprobs += [0.0] * len(ids)
        self._seen = len(messages)

    def sampled(self, ids: Sequence[int], logprobs: Sequence[float], *, ended: bool) -> None:
        """Add an answer; `ended` says whether its last id is the end of turn."""
        if len(ids) != len(logprobs):
            raise ValueError(f"{len(ids)} tokens with {len(logprobs)} log-probabilities")
        self.completion_ids += ids
        self.mask += [1] * len(ids)
        self.logprobs += logprobs
        self._ended = ended
