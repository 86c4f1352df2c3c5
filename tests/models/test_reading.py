import json

import pytest
from hypothesis import given, settings

from envs_forge.models.answer import Answer
from envs_forge.models.faults import EndpointError
from envs_forge.models.reading import read_answer
from envs_forge.models.streamed import is_stream, whole
from envs_forge.models.wire import parsed

from .responses import bodies
from .server import says


@settings(max_examples=250)
@given(bodies)
def test_whatever_came_is_read_or_is_a_fault(body):
    text = body.decode("utf-8", "replace")
    try:
        answer = read_answer(whole(text) if is_stream(text) else parsed(text))
    except (EndpointError, ValueError) as error:
        told = str(error)
    else:
        told = answer.model_dump_json()
        assert Answer.model_validate_json(told) == answer
    assert told.encode()


def test_halves_of_a_character_become_the_replacement_wherever_they_are():
    half = "\ud800"
    calls = [{"id": half, "function": {"name": half, "arguments": half}}]
    logprobs = {"content": [{"token": half, "logprob": -1.0}]}
    message, choice = {"reasoning": half}, {"logprobs": logprobs}
    reply = says([{"text": half}], calls=calls, message=message, finish=half, choice=choice, model=half)
    answer = read_answer(json.loads(json.dumps(reply.body)))
    (call,), (token,) = answer.calls, answer.logprobs
    found = {answer.text, answer.reasoning, answer.finish, answer.model, call.id, call.name, call.arguments, token.text}
    assert found == {"\ufffd"}


@pytest.mark.parametrize("value", [None, "1", True, float("nan"), float("-inf"), 10**400])
def test_one_logprob_that_is_no_number_spoils_the_record(value):
    content = [{"token": "h", "logprob": -0.5}, {"token": "i", "logprob": value}]
    assert read_answer(says("hi", choice={"logprobs": {"content": content}}).body).logprobs is None


@pytest.mark.parametrize("value", [None, "1", True, 1.0, -1, 2**63])
def test_one_token_id_that_is_none_spoils_the_record(value):
    answer = read_answer(says("hi", choice={"token_ids": [4, value]}, prompt_token_ids=[value]).body)
    assert (answer.token_ids, answer.prompt_token_ids) == (None, None)
