"""How generators and judges ask models: through a desk that pays once, records, and knows the budget."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from envs_forge.models.answer import Answer, Request
from envs_forge.models.client import ModelClient
from envs_forge.models.settings import PriceSettings


class Desk(Protocol):
    """Asks models on behalf of a run."""

    def known(self, role: str, subject: str, number: int = 0) -> Answer | None:
        """An answer that came earlier, in this session or another."""
        ...

    def ask(
        self, client: ModelClient, price: PriceSettings, role: str, subject: str, request: Request, number: int = 0
    ) -> Answer:
        """Ask, unless the answer is there already.

        Args:
            client: Whom.
            price: What its tokens cost.
            role: `generator`, `judge` or `digest`.
            subject: What it is about: the name of an attempt, for a digest the hash of a seed.
            request: What is asked.
            number: Counts the questions about one subject.

        Raises:
            ForgeError: The budget is reached, or the endpoint failed; nothing was answered.
        """
        ...


@runtime_checkable
class Paying(Protocol):
    """What asks models and so needs a desk before it is used."""

    def attach(self, desk: Desk) -> None:
        """Ask through this desk from now on."""
        ...

    def cancel(self) -> None:
        """End every request under way, and every later one, at once. Callable from any thread."""
        ...
