"""`llm`: a language model writes whole bundles, and mends those that were rejected."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from envs_forge.bundle.hashing import content_hash
from envs_forge.bundle.model import Bundle
from envs_forge.config import WriterSettings
from envs_forge.errors import InvariantError, UserError
from envs_forge.models.answer import Message, Request
from envs_forge.models.client import ModelClient
from envs_forge.models.faults import ContextExceededError
from envs_forge.plan.model import CandidateSkills
from envs_forge.synthesis.desk import Desk
from envs_forge.synthesis.generator import UNREPAIRED, Assignment, Candidate, Feedback, Rejection
from envs_forge.synthesis.llm import digested
from envs_forge.synthesis.llm.contract import PROMPTS, Contract, contract
from envs_forge.synthesis.llm.eligibility import options
from envs_forge.synthesis.llm.faults import AnswerFault
from envs_forge.synthesis.llm.outcome import outcome
from envs_forge.synthesis.llm.repair import repair_messages
from envs_forge.synthesis.tagging import skills_of_bundle

ROLE = "generator"
TOO_LONG = "prompt-too-long"
_NO_TEXT = frozenset({TOO_LONG, AnswerFault.EMPTY, AnswerFault.REFUSED})
"""What says enough of an answer without a look at its text."""
VERSION = "2"
"""Raised with every change of behaviour that settings and prompts do not show."""


class LlmGenerator:
    """Asks a model for each candidate. Implements `Generator`, `Repairing` and `Paying`.

    Args:
        settings: The model, and how it is asked. Without a model it can tell what it would do (`options`, `contract`)
            and no more.
        seed: Number that the sampling's seeds start from.

    Raises:
        UserError: The model's address cannot be used.
    """

    def __init__(self, settings: WriterSettings, *, seed: int = 0) -> None:
        self._settings, self._seed = settings, seed
        self._client = _client(settings)
        wanted = settings.digest_summary and settings.model is not None
        self._summaries = digested.DigestSummaries(settings) if wanted else None
        self._desk: Desk | None = None
        self._skills: dict[str, tuple[str, ...]] = {}

    @property
    def name(self) -> str:
        """`llm`."""
        return "llm"

    @property
    def identity(self) -> Mapping[str, Any]:
        """What decides its answers, for the lock."""
        return {
            "version": VERSION,
            "model": self._settings.model,
            "prompts": PROMPTS.identity,
            "sampling": self._settings.sampling.model_dump(mode="json"),
            **({"digest_summary": digested.VERSION} if self._settings.digest_summary else {}),
        }

    def attach(self, desk: Desk) -> None:
        """See `Paying`."""
        self._desk = desk

    def cancel(self) -> None:
        """See `Paying`."""
        if self._client is not None:
            self._client.cancel()
        if self._summaries is not None:
            self._summaries.cancel()

    def options(self, bundle: Bundle) -> Mapping[str, CandidateSkills | str]:
        """See `Generator.options`. Static: asks no model."""
        return options(bundle, self._own(bundle), self._settings)

    def contract(self, assignment: Assignment, parent: Bundle) -> Contract:
        """The prompt of an assignment. Asks no model: a summary of the digest is not in it."""
        option = self.options(parent)[str(assignment.action)]
        return contract(
            assignment,
            parent,
            own=self._own(parent),
            option=option if isinstance(option, CandidateSkills) else CandidateSkills(),
            seed_tokens=self._settings.seed_tokens,
        )

    def generate(self, assignment: Assignment, parent: Bundle) -> Candidate | Rejection:
        """See `Generator.generate`.

        Returns:
            The candidate, or a rejection with a code of `AnswerFault`, or `prompt-too-long`.
        """
        asked = self._contract(assignment, parent)
        return self._ask(asked.messages, assignment, parent, asked)

    def repair(self, assignment: Assignment, parent: Bundle, feedback: Feedback) -> Candidate | Rejection:
        """See `Repairing.repair`.

        Returns:
            As of `generate`; or a rejection as `unrepaired` where nothing readable came and it came before.
        """
        asked = self._contract(assignment.model_copy(update={"repair": 0}), parent)
        known = self._counter().known(ROLE, feedback.previous)
        messages = repair_messages(asked.messages, feedback, known.text if known is not None else None)
        made = self._ask(messages, assignment, parent, asked)
        if isinstance(made, Rejection) and made.code not in _NO_TEXT and self._came_before(assignment):
            told = f"the rejected answer again ({made.code}): {made.evidence}"
            return made.model_copy(update={"code": UNREPAIRED, "evidence": told})
        return made

    def _came_before(self, assignment: Assignment) -> bool:
        """Whether the answer to a repair is one that was rejected at the same draw, to the letter."""
        names = [assignment.model_copy(update={"repair": repair}).name for repair in range(assignment.repair + 1)]
        *before, last = (self._counter().known(ROLE, name) for name in names)
        return last is not None and any(answer is not None and answer.text == last.text for answer in before)

    def _contract(self, assignment: Assignment, parent: Bundle) -> Contract:
        """The prompt as it is sent."""
        if self._summaries is not None and assignment.digest:
            digest = self._summaries.put_before(assignment.digest, assignment.seed_hash, self._counter())
            assignment = assignment.model_copy(update={"digest": digest})
        return self.contract(assignment, parent)

    def _ask(
        self, messages: tuple[Message, ...], assignment: Assignment, parent: Bundle, asked: Contract
    ) -> Candidate | Rejection:
        request = Request(messages=messages, seed=self._sampling_seed(assignment))
        try:
            answer = self._counter().ask(
                require_model(self._client), self._settings.price, ROLE, assignment.name, request
            )
        except ContextExceededError as error:
            return Rejection(code=TOO_LONG, evidence=str(error))
        return outcome(answer, parent, asked)

    def _sampling_seed(self, assignment: Assignment) -> int:
        text = f"{self._seed}/{assignment.seed_hash}/{assignment.action}/{assignment.name}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:7], "big")

    def _counter(self) -> Desk:
        if self._desk is None:
            raise InvariantError("the generator llm was used before a desk was attached")
        return self._desk

    def _own(self, bundle: Bundle) -> tuple[str, ...]:
        digest = content_hash(bundle)
        if digest not in self._skills:
            self._skills[digest] = skills_of_bundle(bundle).skills
        return self._skills[digest]


def _client(settings: WriterSettings) -> ModelClient | None:
    if settings.model is None:
        return None
    return ModelClient(settings.model, settings.endpoint, settings.sampling, flag="--generator-url")


def require_model(client: ModelClient | None) -> ModelClient:
    """The client of the model that was named.

    Raises:
        UserError: None was.
    """
    if client is None:
        raise UserError("the generator llm needs a model", fix="give --generator-model MODEL")
    return client
