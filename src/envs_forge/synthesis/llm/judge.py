"""An optional second opinion by a model: does the instruction fit the tests, is it clear, was the action realised?

It is asked after gold verification, recorded with the decision, and rejects only where that is configured.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict

from envs_forge.bundle.model import Bundle
from envs_forge.config import JudgeSettings
from envs_forge.errors import InvariantError, UserError
from envs_forge.models.answer import AnswerKind, Request
from envs_forge.models.client import ModelClient
from envs_forge.models.faults import ContextExceededError, EndpointError
from envs_forge.synthesis.desk import Desk
from envs_forge.synthesis.generator import Assignment
from envs_forge.synthesis.llm.contract import PROMPTS
from envs_forge.synthesis.llm.repair import cut
from envs_forge.synthesis.llm.seedview import view
from envs_forge.synthesis.llm.strategies import action_texts

ROLE = "judge"
UNREADABLE = "no opinion could be read from the answer"
_CODES = (("matches", "judge-mismatch"), ("clear", "judge-unclear"), ("realised", "judge-not-realised"))
_SEED_CHARS = 3000
_READ = 50_000
_OBJECT = re.compile(r'\{\s*"[^"]*"\s*:')


class Opinion(BaseModel):
    """What the judge said. A point is None where it said nothing that can be read."""

    model_config = ConfigDict(frozen=True)

    matches: bool | None = None
    clear: bool | None = None
    realised: bool | None = None
    reason: str = ""

    @property
    def code(self) -> str:
        """Reason code of the first point that is denied, empty when none is. Silence denies nothing."""
        return next((code for name, code in _CODES if getattr(self, name) is False), "")


class ModelJudge:
    """Asks a model. Implements `Paying`.

    Args:
        settings: The model, and whether its opinion rejects.

    Raises:
        UserError: No model is named, or its address cannot be used.
    """

    def __init__(self, settings: JudgeSettings) -> None:
        if settings.model is None:
            raise UserError("the judge needs a model", fix="give --judge-model MODEL")
        self._settings = settings
        self._client = ModelClient(settings.model, settings.endpoint, settings.sampling, flag="--judge-url")
        self._desk: Desk | None = None
        self.rejects = settings.rejects

    def attach(self, desk: Desk) -> None:
        """See `Paying`."""
        self._desk = desk

    def cancel(self) -> None:
        """See `Paying`."""
        self._client.cancel()

    def opinion(self, assignment: Assignment, parent: Bundle, candidate: Bundle) -> Opinion:
        """Ask for an opinion on a verified candidate.

        Raises:
            InfrastructureError: The endpoint failed, other than by rejecting one request where nothing hangs on it.
            ForgeError: The budget is reached.
        """
        if self._desk is None:
            raise InvariantError("the judge was used before a desk was attached")
        text = PROMPTS.render(
            "judged",
            seed=cut(parent.instruction, _SEED_CHARS),
            files=view(candidate, self._settings.seed_tokens).text,
            **action_texts(assignment.action),
        )
        messages = ({"role": "system", "content": PROMPTS.render("judge")}, {"role": "user", "content": text})
        try:
            answer = self._desk.ask(
                self._client, self._settings.price, ROLE, assignment.name, Request(messages=messages, seed=0)
            )
        except ContextExceededError as error:
            return Opinion(reason=f"not asked: {error}")
        except EndpointError as error:
            if self.rejects or error.kind != "rejected":
                raise
            # One candidate may be what it does not take; a key, a name or a quota would be the same for all of them.
            return Opinion(reason=f"no opinion: {error.message}")
        if answer.kind is AnswerKind.REFUSED:
            return Opinion(reason=f"the judge declined: {_words(answer.text) or answer.finish}")
        return read_opinion(answer.text) if answer.kind is AnswerKind.ANSWER else Opinion(reason=UNREADABLE)


def read_opinion(text: str) -> Opinion:
    """The last JSON object of an answer that says yes or no to one of the points.

    Objects within others are no opinion: they may be about the points by name.
    """
    opinion = Opinion(reason=UNREADABLE)
    for found in _objects(text):
        points = {name: found[name] for name, _ in _CODES if isinstance(found.get(name), bool)}
        if points:
            opinion = Opinion(**points, reason=_words(found.get("reason")))
    return opinion


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The outermost objects. Where one breaks off, nothing that was read of it is taken for an object of its own."""
    decoder, at = json.JSONDecoder(), 0
    while (start := _OBJECT.search(text, at, _READ)) is not None:
        try:
            found, at = decoder.raw_decode(text, start.start())
        except json.JSONDecodeError as error:
            at = max(error.pos, start.end())
        except (ValueError, RecursionError):  # a number of more digits than are taken, or nested beyond reading
            return
        else:
            yield found


def _words(value: Any) -> str:
    return " ".join(value.split())[:1000] if isinstance(value, str) else ""
