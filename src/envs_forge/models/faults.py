"""What can go wrong between us and a model, typed. No fault is ever an answer."""

from __future__ import annotations

from envs_forge.errors import ForgeError, InfrastructureError
from envs_forge.models.answer import Answer, AnswerKind
from envs_forge.models.usage import Usage

CANCELLED = "cancelled"


class EndpointError(InfrastructureError):
    """An endpoint failed: the trial is invalid, never failed.

    Args:
        message: What happened, in one line, without secrets.
        kind: `rate-limit`, `server`, `connection`, `timeout`, `malformed` (transient), `auth`, `not-found`,
            `rejected`, `quota` (lasting). The code is `endpoint-` and the kind.
        transient: Whether another try may help.
        retry_after_s: What the endpoint asked us to wait.
        paid: Whether tokens may have been spent on it, which nobody counted.
        fix: What the reader can do about it.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: str,
        transient: bool = False,
        retry_after_s: float | None = None,
        paid: bool = False,
        fix: str | None = None,
    ) -> None:
        super().__init__(message, code=f"endpoint-{kind}", fix=fix)
        self.kind = kind
        self.transient = transient
        self.retry_after_s = retry_after_s
        self.paid = paid
        self.unknown_calls = 0
        """Calls of the request, this one included, that may have been paid and were not counted."""


class ContextExceededError(ForgeError):
    """The request does not fit into the model's context. The asker's doing, not the endpoint's."""

    unknown_calls = 0
    """Spoilt tries before it that may have been paid and were not counted."""


class PromptRefusedError(ForgeError):
    """The provider did not let the prompt through to the model. Never leaves the client, which makes an answer of it.

    Args:
        said: The provider's words, in one line, without secrets.
        usage: Tokens of it, where the provider reported any; else unknown, since some bill such requests.
    """

    def __init__(self, said: str, usage: Usage) -> None:
        super().__init__(said)
        self.usage = usage

    @property
    def answer(self) -> Answer:
        """The answer that it is."""
        return Answer(kind=AnswerKind.REFUSED, text=self.message, finish="content_filter", usage=self.usage)


def cancelled() -> InfrastructureError:
    """The fault of a request that the user broke off."""
    return InfrastructureError("the request was cancelled", code=CANCELLED)
