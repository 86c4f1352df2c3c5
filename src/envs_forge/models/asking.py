"""What an agent needs of a model, whoever serves it."""

from __future__ import annotations

from typing import Protocol

from envs_forge.models.answer import Answer, Request
from envs_forge.models.settings import Sampling


class Asking(Protocol):
    """Answers requests; `ModelClient` does so over an endpoint."""

    @property
    def sampling(self) -> Sampling:
        """How answers are drawn."""
        ...

    def ask(self, request: Request, *, max_tokens: int | None = None) -> Answer:
        """Answer once.

        Raises:
            ContextExceededError: The request is too long for the model.
            InfrastructureError: Whoever serves the model failed.
        """
        ...
