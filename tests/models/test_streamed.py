"""Answers that come as streams, asked for or not, are what they would have been as a whole."""

import pytest

from envs_forge.models.faults import EndpointError
from envs_forge.models.streamed import whole

from .clients import HELLO, client
from .server import ModelServer, Reply, says, streams

LOGPROBS = {"logprobs": {"content": [{"token": "hi", "logprob": -0.5}]}, "token_ids": [4, 5]}
ANSWERS = [
    says("Hällo, this is\nan answer."),
    says("```bash\nls\n```", message={"reasoning_content": "Hm, let me see."}),
    says("I write.", calls=["mkdir d; cd d", "echo 'x y'"]),
    says(None, calls=["true"], usage=None),
    says("cut", finish="length"),
    says(""),
    says("hi", choice=LOGPROBS),
    says(None, message={"refusal": "I cannot help"}),
]


@pytest.mark.parametrize("reply", ANSWERS)
@pytest.mark.parametrize("stream", [True, False])
def test_a_stream_is_the_same_answer(reply, stream):
    with ModelServer([reply, streams(reply)]) as server:
        asked = client(server, stream=stream)
        one, other = (asked.ask(HELLO) for _ in range(2))
    assert one.model_dump(exclude={"duration_s", "lost_s"}) == other.model_dump(exclude={"duration_s", "lost_s"})
    assert [bool(request.get("stream")) for request in server.requests] == [stream] * 2
    assert [request.get("stream_options") for request in server.requests] == [
        {"include_usage": True} if stream else None
    ] * 2


@pytest.mark.parametrize("cut", [1, 3])
def test_a_stream_that_breaks_off_is_asked_for_again(cut):
    good = says("All of it.")
    with ModelServer([streams(good, cut=cut), good]) as server:
        answer = client(server).ask(HELLO)
    assert (answer.text, answer.spoilt, answer.unknown_calls) == ("All of it.", ("endpoint-malformed",), 1)


def test_a_stream_that_says_that_it_failed():
    data = b'data: {"choices": [{"delta": {"content": "x"}}]}\n\ndata: {"error": {"message": "out of memory"}}\n\n'
    with (
        ModelServer([Reply(body=data)]) as server,
        pytest.raises(EndpointError, match="broke its stream off: out of memory"),
    ):
        client(server, retries=0).ask(HELLO)


@pytest.mark.parametrize(
    "text",
    [
        "data: {",
        "data: []\n\n",
        ": ping\n\n",
        'data: {"choices": [{"delta": {"tool_calls": [{"index": 100000}]}}]}',
        'data: {"choices": [{"delta": {"tool_calls": [{"index": -1}]}}]}',
    ],
)
def test_nonsense_is_malformed(text):
    with pytest.raises(EndpointError) as raised:
        whole(text)
    assert raised.value.kind == "malformed"


def test_calls_without_an_index():
    lines = [
        '{"function": {"name": "bash", "arguments": "{\\"command\\": "}}',
        '{"function": {"arguments": "\\"ls\\"}"}}',
        '{"function": {"name": "bash", "arguments": "{}"}}',
    ]
    text = "".join(f'data: {{"choices": [{{"delta": {{"tool_calls": [{line}]}}}}]}}\n\n' for line in lines)
    document = whole(text + 'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\n')
    calls = document["choices"][0]["message"]["tool_calls"]
    assert [call["function"]["arguments"] for call in calls] == ['{"command": "ls"}', "{}"]
