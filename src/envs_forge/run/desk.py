"""Where synthesis asks models: every answer is paid once, recorded at once, and never asked for again.

Before a request is sent its worst case is in the ledger; once the answer is there, the answer, its usage and its price
are, in one transaction. So a process may be killed at any moment: the next session finds every answer that came, and
counts at its worst whatever was under way.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from envs_forge.config import BudgetSettings
from envs_forge.ledger.records import (
    ModelAnswerRecord,
    ModelCallRecord,
    ModelRequestRecord,
    Record,
    RequestState,
)
from envs_forge.ledger.store import Ledger
from envs_forge.models.answer import Answer, Request
from envs_forge.models.client import ModelClient
from envs_forge.models.faults import CANCELLED, ContextExceededError, EndpointError, cancelled
from envs_forge.models.settings import PriceSettings, Sampling
from envs_forge.models.usage import Usage
from envs_forge.run.budget import Budget, Spend

_TEMPLATE_BYTES = 64
"""What a chat template may add to each message."""
_SPENT = """
    SELECT count(*) AS calls, total(prompt_tokens + completion_tokens) AS tokens,
        CASE WHEN count(*) = count(cost_usd) THEN total(cost_usd) END AS usd
    FROM {table} WHERE role IN ('generator', 'judge', 'digest')
"""
_SPANS = "SELECT min(at) AS first, max(at) AS last FROM model_requests GROUP BY session"


class ModelDesk:
    """Asks models for one session of a run. Any number of threads may use it. Implements `synthesis.desk.Desk`.

    Args:
        ledger: The run's.
        session: Number of the session.
        caps: Caps on spending.
        stop: Set to end waiting.
    """

    def __init__(self, ledger: Ledger, session: int, caps: BudgetSettings, stop: threading.Event) -> None:
        self._ledger, self._session, self._stop = ledger, session, stop
        self.budget = Budget(caps, spent_before(ledger), seconds_before(ledger))

    def spending(self) -> str:
        """What was spent so far, in a few words."""
        spent = self.budget.spent
        cost = "cost not known" if spent.usd is None else f"${spent.usd:.3f}"
        return f"{spent.calls} calls, {spent.tokens:,} tokens, {cost}"

    def known(self, role: str, subject: str, number: int = 0) -> Answer | None:
        """An answer that came earlier."""
        found = self._ledger.read(ModelAnswerRecord, role=role, subject=subject, number=number)
        return Answer.model_validate(found[0].payload) if found else None

    def ask(
        self, client: ModelClient, price: PriceSettings, role: str, subject: str, request: Request, number: int = 0
    ) -> Answer:
        """Ask, unless the answer is there already.

        Raises:
            BudgetReachedError: A cap could be exceeded.
            EndpointError: The endpoint failed for good.
            ContextExceededError: The request is too long for the model.
            InfrastructureError: The client was told to cancel.
        """
        known = self.known(role, subject, number)
        if known is not None:
            return known
        call = _Call(self, client, price, role, subject, number, request)
        answer = client.ask(request, guard=call.guard)
        call.settle(answer)
        return answer

    def reserve(self, worst: Spend, longest_s: float) -> int:
        """See `Budget.reserve`."""
        return self.budget.reserve(worst, longest_s, self.over)

    def over(self) -> bool:
        """Whether nothing more is to be asked."""
        return self._stop.is_set()

    def record(self, *records: Record) -> None:
        """Append to the ledger."""
        self._ledger.append(*records)

    def next_retry(self, role: str, subject: str, number: int) -> int:
        """Number of the next request for one answer."""
        where = {"role": role, "subject": subject, "number": number, "state": RequestState.RESERVED}
        return len(self._ledger.read(ModelRequestRecord, **where))

    def request_record(self, **fields: Any) -> ModelRequestRecord:
        """A record of this session."""
        return ModelRequestRecord(session=self._session, **fields)


class _Call:
    """One answer in the making, with however many requests it takes."""

    def __init__(
        self,
        desk: ModelDesk,
        client: ModelClient,
        price: PriceSettings,
        role: str,
        subject: str,
        number: int,
        request: Request,
    ) -> None:
        self._desk, self._client, self._price = desk, client, price
        self._key: dict[str, Any] = {"role": role, "subject": subject, "number": number}
        self._prompt = prompt_at_most(request, client.sampling)
        self._completion = client.sampling.max_tokens
        self._fields: dict[str, Any] = {}
        self._ticket = 0

    @contextmanager
    def guard(self) -> Iterator[None]:
        """Around one request: reserve it, and know what became of it where no answer did."""
        cost = self._price.worst(self._prompt, self._completion)
        worst = Spend(1, self._prompt + self._completion, cost)
        self._ticket = self._desk.reserve(worst, self._client.endpoint.timeout_s)
        tokens = {"prompt_tokens": self._prompt, "completion_tokens": self._completion, "cost_usd": cost}
        retry = self._desk.next_retry(**self._key)
        self._fields = {**self._key, "retry": retry, "model": self._client.model, **tokens}
        try:
            self._desk.record(self._desk.request_record(state=RequestState.RESERVED, **self._fields))
        except BaseException:
            self._desk.budget.settle(self._ticket)
            raise
        if self._desk.over():  # Not sent, so not paid.
            self._release(CANCELLED)
            raise cancelled()
        try:
            yield
        except BaseException as error:
            self._failed(error)
            raise

    def _failed(self, error: BaseException) -> None:
        unpaid = isinstance(error, ContextExceededError) or (isinstance(error, EndpointError) and not error.paid)
        if not unpaid:
            self._desk.budget.lose(self._ticket)
            return
        self._release(getattr(error, "code", type(error).__name__))

    def _release(self, reason: str) -> None:
        """Nothing was spent on it."""
        self._desk.record(
            self._desk.request_record(state=RequestState.RELEASED, payload={"code": reason}, **self._fields)
        )
        self._desk.budget.settle(self._ticket)

    def settle(self, answer: Answer) -> None:
        """Record the answer and what it took; where its usage is not known, the reservation stands."""
        kept = answer.model_copy(update={"logprobs": None, "token_ids": None, "prompt_token_ids": None})
        records: list[Record] = [
            ModelAnswerRecord(
                **self._key, model=self._client.model, kind=answer.kind.value, payload=kept.model_dump(mode="json")
            )
        ]
        call = self._paid(answer.usage, answer.duration_s)
        if call is None:
            self._desk.record(*records)
            self._desk.budget.lose(self._ticket)
            return
        settled = self._desk.request_record(state=RequestState.SETTLED, **self._fields)
        self._desk.record(*records, call, settled)
        took = Spend(1, call.prompt_tokens + call.completion_tokens, call.cost_usd)
        self._desk.budget.settle(self._ticket, took)

    def _paid(self, usage: Usage, seconds: float) -> ModelCallRecord | None:
        if usage.prompt_tokens is None or usage.completion_tokens is None:
            return None
        cached = usage.cached_tokens or 0
        return ModelCallRecord(
            **self._key,
            model=self._client.model,
            prompt_tokens=usage.prompt_tokens,
            cached_tokens=cached,
            completion_tokens=usage.completion_tokens,
            reasoning_tokens=usage.reasoning_tokens or 0,
            cost_usd=self._price.cost(usage.prompt_tokens, usage.completion_tokens, cached),
            duration_s=seconds,
        )


def prompt_at_most(request: Request, sampling: Sampling) -> int:
    """More tokens than a request's prompt can have, whatever the tokenizer and the chat template: its bytes."""
    text = json.dumps([dict(message) for message in request.messages], ensure_ascii=False)
    most = len(text.encode("utf-8", "replace")) + _TEMPLATE_BYTES * len(request.messages)
    if request.tools or sampling.extra:
        # Schemas and documents among them become part of the prompt.
        more = [[dict(tool) for tool in request.tools], dict(sampling.extra)]
        most += len(json.dumps(more, ensure_ascii=False, default=str).encode("utf-8", "replace"))
    return most


def spent_before(ledger: Ledger) -> Spend:
    """What synthesis spent so far, what was perhaps paid counted at its worst."""
    total = Spend()
    for table in ("model_calls", "lost_requests"):
        (row,) = ledger.query(_SPENT.format(table=table))
        total = total.plus(Spend(int(row["calls"]), int(row["tokens"]), row["usd"]))
    return total


def seconds_before(ledger: Ledger) -> float:
    """How long earlier sessions were at it, from the first of their requests to the last record of one."""
    rows = ledger.query(_SPANS)
    return sum((_moment(row["last"]) - _moment(row["first"])).total_seconds() for row in rows)


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
