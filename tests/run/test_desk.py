"""What the desk pays for is kept, whatever came, and never costs more than was reserved for it."""

import itertools
import json
import threading

import pytest
from hypothesis import event, given, settings

from envs_forge.config import BudgetSettings
from envs_forge.ledger.records import ModelRequestRecord, RequestState
from envs_forge.ledger.store import Ledger
from envs_forge.models.answer import Request
from envs_forge.models.faults import ContextExceededError, EndpointError
from envs_forge.models.settings import PriceSettings, Sampling
from envs_forge.run.budget import BudgetReachedError
from envs_forge.run.desk import ModelDesk
from models.clients import HELLO, PLAIN, client
from models.responses import replies
from models.server import ModelServer, Reply, says

SMALL = Sampling(max_tokens=100)
FREE = PriceSettings()
REPORTED = {"logprobs": None, "token_ids": None, "prompt_token_ids": None}


@pytest.fixture
def ledger(tmp_path):
    with Ledger.open(tmp_path / "ledger.sqlite") as opened:
        yield opened


def desk(ledger, **caps):
    return ModelDesk(ledger, 1, BudgetSettings(**caps), threading.Event())


def asked(ledger, reply, price=FREE, sampling=PLAIN, request=HELLO, **caps):
    with ModelServer([reply]) as server:
        return desk(ledger, **caps).ask(client(server, sampling, retries=0), price, "generator", "a", request)


@pytest.mark.parametrize(
    "reply",
    [
        says("a\ud800b"),
        says("x", model="\udfff"),
        says("x", message={"reasoning": "\ud800"}),
        says(None, calls=[{"id": "\ud800", "function": {"name": "\ud800", "arguments": "\udfff"}}]),
        says("x", finish="\ud800"),
        says("x", usage={"prompt_tokens": 10**30, "completion_tokens": 5}),
        says("x", usage={"prompt_tokens": 2**62, "completion_tokens": 2**62}),
    ],
)
def test_a_paid_answer_is_stored_whatever_it_holds(ledger, reply):
    answer = asked(ledger, reply)
    assert desk(ledger).known("generator", "a") == answer
    assert "\ufffd" in answer.model_dump_json() or not answer.usage.known


def test_counts_that_cannot_be_leave_the_reservation_standing(ledger):
    asked(ledger, says("x", usage={"prompt_tokens": 10**30, "completion_tokens": 5}), sampling=SMALL)
    (reserved,) = ledger.read(ModelRequestRecord)
    assert desk(ledger).budget.spent.tokens == reserved.prompt_tokens + reserved.completion_tokens


def test_every_response_is_an_answer_that_is_kept_or_a_typed_fault(ledger):
    now = [Reply()]
    numbers = itertools.count()
    payer = desk(ledger)
    with ModelServer(lambda body, n: now[0]) as server:
        asker = client(server, SMALL, retries=0)

        @settings(max_examples=100)
        @given(replies)
        def holds(reply):
            now[0] = reply
            number = next(numbers)
            try:
                answer = payer.ask(asker, FREE, "generator", "a", HELLO, number)
            except (EndpointError, ContextExceededError) as error:
                kept, told = None, str(error)
                event(getattr(error, "code", "context"))
            else:
                kept, told = answer.model_copy(update=REPORTED), ""
                event("answer")
            assert payer.known("generator", "a", number) == kept
            assert told == told.encode().decode()

        holds()


PRICES = [
    PriceSettings(prompt=1, completion=2),
    PriceSettings(prompt=1, cached=10, completion=2),
    PriceSettings(prompt=10, cached=1, completion=2),
]


@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("cached", [0, 90])
def test_no_request_costs_more_than_was_reserved(ledger, price, cached):
    usage = {"prompt_tokens": 90, "completion_tokens": 100, "prompt_tokens_details": {"cached_tokens": cached}}
    payer = desk(ledger)
    with ModelServer([says("x", usage=usage)]) as server:
        payer.ask(client(server, SMALL), price, "generator", "a", HELLO)
    (reserved,) = ledger.read(ModelRequestRecord, state=RequestState.RESERVED)
    assert payer.budget.spent.usd <= reserved.cost_usd


def test_a_cap_holds_where_cached_tokens_are_dearer(ledger):
    usage = {"prompt_tokens": 90, "completion_tokens": 100, "prompt_tokens_details": {"cached_tokens": 90}}
    with pytest.raises(BudgetReachedError):
        asked(ledger, says("x", usage=usage), PriceSettings(prompt=1, cached=10, completion=1), SMALL, usd=0.0003)


def test_what_joins_the_prompt_is_reserved_with_it(ledger):
    schema = {"response_format": {"type": "json_schema", "json_schema": {"name": "long" * 100}}}
    tools = [{"type": "function", "function": {"name": "tool" * 100}}]
    plain, more = Request(messages=HELLO.messages), Request(messages=HELLO.messages, tools=tools)
    with ModelServer([says("x")]) as server:
        payer = desk(ledger)
        for number, (extra, request) in enumerate([({}, plain), (schema, plain), ({}, more)]):
            asker = client(server, Sampling(extra=extra))
            payer.ask(asker, FREE, "generator", "a", request, number)
    least, *others = (row.prompt_tokens for row in ledger.read(ModelRequestRecord, state=RequestState.RESERVED))
    for tokens, part in zip(others, (schema, tools), strict=True):
        assert tokens >= least + len(json.dumps(part))
