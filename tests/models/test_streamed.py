"""Answers that come as streams, asked for or not, are what they would have been as a whole."""

import json

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


@pytest.mark.parametrize("ending", ["\n\n", "\r\n\r\n", "\r\r"])
def test_lines_end_where_the_protocol_ends_them_and_nowhere_else(ending):
    text = "a\u2028b\u2029c\u0085d\x0b\x0c\x1ce"
    piece = json.dumps({"choices": [{"delta": {"content": text}, "finish_reason": "stop"}]}, ensure_ascii=False)
    # Control characters are escaped in JSON; the other ends of lines may stand as they are.
    assert "\u2028b\u2029c\u0085d" in piece
    body = ending.join([f"data: {piece}", "data: [DONE]", ""]).encode()
    with ModelServer([Reply(body=body)]) as server:
        answer = client(server, stream=True).ask(HELLO)
    assert (answer.text, answer.spoilt) == (text, ())


@pytest.mark.parametrize("none", [None, "", {}, False])
def test_an_error_that_is_none_is_no_error(none):
    piece = {"error": none, "choices": [{"delta": {"content": "hi"}, "finish_reason": "stop"}]}
    assert whole(f"data: {json.dumps(piece)}\n\n")["choices"][0]["message"]["content"] == "hi"


def test_halves_of_a_character_that_come_apart_are_one():
    pieces = [{"content": "\ud83d"}, {"content": "\ude00"}, {}]
    chunks = [{"choices": [{"delta": piece, "finish_reason": "stop"}]} for piece in pieces]
    body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks).encode()
    with ModelServer([Reply(body=body)]) as server:
        assert client(server).ask(HELLO).text == "😀"


@pytest.mark.parametrize("message", ["5", "[[1]]", "[{}]", '{"message": [1]}', '{"message": "\\ud800"}'])
def test_a_stream_s_error_is_a_fault_however_it_is_told(message):
    with pytest.raises(EndpointError, match=r"broke its stream off: .") as raised:
        whole(f'data: {{"error": {message}}}')
    assert (raised.value.kind, bool(str(raised.value).encode())) == ("stream", True)


@pytest.mark.parametrize(
    "reply",
    [Reply(body=streams(says("x" * 99)).body, drop=True), Reply(body=b"no gzip", headers={"content-encoding": "gzip"})],
)
def test_a_connection_that_ends_within_a_stream_that_was_asked_for(reply):
    good = says("All of it.")
    with ModelServer([reply, streams(good)]) as server:
        answer = client(server, stream=True).ask(HELLO)
    assert (answer.text, answer.spoilt, answer.unknown_calls) == ("All of it.", ("endpoint-connection",), 1)


@pytest.mark.parametrize(
    "text",
    [
        "data: {",
        pytest.param("data: " + "[" * 100_000, id="deep"),
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
