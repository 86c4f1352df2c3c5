"""Every kind of thing that an endpoint may do to us, over real HTTP."""

import logging
import socket
import threading

import httpx2
import pytest

from envs_forge.errors import InfrastructureError
from envs_forge.models.answer import AnswerKind, Request
from envs_forge.models.client import ModelClient
from envs_forge.models.faults import ContextExceededError, EndpointError
from envs_forge.models.settings import Sampling
from envs_forge.models.translation import broken
from envs_forge.models.usage import Usage
from waiting import eventually

from .clients import HELLO, IMPATIENT, PLAIN, client, endpoint
from .server import USAGE, ModelServer, Reply, drops, fails, hangs, says


def ask(*script, sampling=PLAIN, request=HELLO, **settings):
    with ModelServer(script) as server:
        return client(server, sampling, **settings).ask(request), server


def fault(*script, **settings):
    with ModelServer(script) as server, pytest.raises(EndpointError) as caught:
        client(server, **settings).ask(HELLO)
    return caught.value, server


def test_an_answer_has_text_usage_and_the_reported_name():
    answer, server = ask(says("hi"))
    assert (answer.kind, answer.text, answer.model, answer.finish) == ("answer", "hi", "served", "stop")
    assert answer.usage == Usage(prompt_tokens=100, completion_tokens=10)
    assert (answer.spoilt, answer.unknown_calls) == ((), 0)
    assert server.requests[0]["model"] == "asked"


def test_sampling_is_sent_as_configured():
    sampling = Sampling(temperature=0.5, top_p=0.9, max_tokens=33, logprobs=True, extra={"top_k": 3})
    _, server = ask(says("hi"), sampling=sampling)
    sent = {name: value for name, value in server.requests[0].items() if name not in ("messages", "model")}
    assert sent == {"temperature": 0.5, "top_p": 0.9, "max_tokens": 33, "logprobs": True, "top_k": 3, "seed": 7}


def test_what_is_not_configured_is_not_sent():
    _, server = ask(says("hi"), sampling=Sampling(temperature=None, send_seed=False))
    assert set(server.requests[0]) == {"messages", "model", "max_tokens"}


def test_seeds_fit_into_an_endpoint_s_number():
    _, server = ask(says("hi"), request=Request(messages=HELLO.messages, seed=2**62 + 5))
    assert server.requests[0]["seed"] == 5


def test_the_other_name_of_the_limit_is_used_where_the_endpoint_insists():
    refusal = fails(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
    with ModelServer(lambda body, n: refusal if "max_tokens" in body else says("hi")) as server:
        asker = client(server)
        assert [asker.ask(HELLO).text for _ in range(2)] == ["hi", "hi"]
    assert ["max_tokens" in body for body in server.requests] == [True, False, False]


def test_the_other_name_of_the_limit_is_found_by_several_first_requests_at_once():
    refusal = fails(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
    together, texts = threading.Barrier(4), []

    def script(body, number):
        if "max_tokens" not in body:
            return says("hi")
        together.wait(20)
        return refusal

    with ModelServer(script) as server:
        asker = client(server)
        threads = [threading.Thread(target=lambda: texts.append(asker.ask(HELLO).text)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert texts == ["hi"] * 4
    assert ["max_tokens" in body for body in server.requests] == [True] * 4 + [False] * 4


def test_an_endpoint_that_refuses_the_other_name_too_is_asked_twice_and_no_more():
    error, server = fault(fails(400, "no 'max_completion_tokens' here"))
    assert (error.code, len(server.requests)) == ("endpoint-rejected", 2)


@pytest.mark.parametrize(
    ("bad", "code", "unknown"),
    [
        (fails(429), "endpoint-rate-limit", 0),
        (fails(500), "endpoint-server", 1),
        (fails(503), "endpoint-server", 1),
        (fails(408), "endpoint-server", 0),
        (drops(), "endpoint-connection", 1),
        (Reply(body=says("hi").body, drop=True), "endpoint-connection", 1),
        (hangs(), "endpoint-timeout", 1),
        (Reply(body=says("hi").body, byte_pause_s=0.05), "endpoint-timeout", 1),
        (Reply(body=b"<html>gateway</html>"), "endpoint-malformed", 1),
        (Reply(body={"choices": []}), "endpoint-malformed", 1),
        (Reply(body={"choices": [{"message": None}]}), "endpoint-malformed", 1),
        (Reply(body=[1]), "endpoint-malformed", 1),
        (Reply(body=b"[" * 100_000 + b"]" * 100_000), "endpoint-malformed", 1),
        (Reply(body=b'{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}"), "endpoint-malformed", 1),
        (Reply(body=b"data: " + b"[" * 100_000), "endpoint-malformed", 1),
    ],
)
def test_transient_faults_are_tried_again_and_then_typed(bad, code, unknown):
    patience = IMPATIENT if code == "endpoint-timeout" else {}
    answer, server = ask(bad, says("at last"), **patience)
    assert (answer.text, answer.spoilt, answer.unknown_calls) == ("at last", (code,), unknown)
    assert len(server.requests) == 2
    assert answer.lost_s > 0
    error, server = fault(bad, **patience)
    assert (error.code, error.unknown_calls) == (code, 3 * unknown)
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        (fails(401), "endpoint-auth"),
        (fails(403), "endpoint-auth"),
        (fails(404), "endpoint-not-found"),
        (fails(400), "endpoint-rejected"),
        (fails(429, code="insufficient_quota"), "endpoint-quota"),
    ],
)
def test_lasting_faults_are_not_tried_again(bad, code):
    error, server = fault(bad)
    assert (error.code, len(server.requests)) == (code, 1)


def test_nobody_at_home():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(EndpointError) as caught:
        client(f"http://127.0.0.1:{port}/v1").ask(HELLO)
    assert (caught.value.code, caught.value.unknown_calls) == ("endpoint-connection", 0)


@pytest.mark.parametrize(
    "said",
    [
        fails(400, "This model's maximum context length is 4096 tokens."),
        fails(400, "too long", code="context_length_exceeded"),
        fails(400, "the request exceeds the available context size"),
        fails(500, "exceed_context_size_error"),
    ],
)
def test_a_full_context_is_no_fault_of_the_endpoint(said):
    with ModelServer([said]) as server, pytest.raises(ContextExceededError):
        client(server).ask(HELLO)
    assert len(server.requests) == 1


AZURE = {
    "message": "The response was filtered\ndue to the prompt.",
    "code": "400",
    "innererror": {"code": "ResponsibleAIPolicyViolation", "content_filter_result": {}},
}


@pytest.mark.parametrize(
    ("refusal", "words"),
    [
        (fails(400, "no such prompts", code="content_filter"), "no such prompts"),
        (fails(403, "not this one", code="content_policy_violation"), "not this one"),
        (Reply(status=400, body={"error": AZURE}), "The response was filtered due to the prompt."),
        (
            fails(400, "Invalid prompt: flagged as potentially violating our usage policy.", code="invalid_prompt"),
            "Invalid prompt: flagged as potentially violating our usage policy.",
        ),
        (Reply(status=400, body={"error": {"type": "content_filter"}}), '{"type": "content_filter"}'),
    ],
)
def test_a_prompt_that_the_provider_filters_is_a_refusal_that_cost_nothing(refusal, words):
    answer, server = ask(refusal)
    assert (answer.kind, answer.text, answer.finish) == (AnswerKind.REFUSED, words, "content_filter")
    assert answer.usage == Usage()
    assert (answer.spoilt, answer.unknown_calls, len(server.requests)) == ((), 0, 1)


def test_a_filtered_prompt_costs_what_the_provider_reports():
    body = fails(400, code="content_filter").body
    assert ask(Reply(status=400, body=body | {"usage": USAGE}))[0].usage.prompt_tokens == 100
    assert ask(Reply(status=400, body=body | {"usage": {"prompt_tokens": 5}}))[0].usage.completion_tokens is None


@pytest.mark.parametrize(
    "bad", [fails(400, "no parameter content_filter"), fails(429, code="content_filter"), fails(400, code=["x"])]
)
def test_what_only_looks_like_a_filter_stays_a_fault(bad):
    fault(bad)


@pytest.mark.parametrize(("name", "value"), [("retry_after", "0.3"), ("retry_after_ms", "300")])
def test_retry_after_is_obeyed_by_everybody(name, value):
    with ModelServer([fails(429, **{name: value}), says("hi")]) as server:
        asker = client(server)
        first = threading.Thread(target=asker.ask, args=(HELLO,))
        first.start()
        assert eventually(lambda: asker._throttle._not_before > 0)
        asker.ask(HELLO)
        first.join()
    assert [moment - server.times[0] >= 0.3 for moment in server.times] == [False, True, True]


def test_a_longer_retry_after_than_we_have_patience_ends_the_request_and_says_so():
    error, server = fault(fails(429, "slow", retry_after="3600"), retry_after_cap_s=1.0)
    assert (error.code, len(server.requests)) == ("endpoint-rate-limit", 1)
    assert "asks to wait 3600 s, more than endpoint.retry_after_cap_s = 1" in error.message
    assert "go on later" in str(error)


def test_after_a_longer_retry_after_nobody_asks_again_before_its_time():
    with ModelServer([fails(429, retry_after="0.5"), says("hi")]) as server:
        asker = client(server, retry_after_cap_s=0.1)
        for _ in range(2):
            with pytest.raises(EndpointError, match=r"asks to wait \d s, more than") as caught:
                asker.ask(HELLO)
        assert (caught.value.code, caught.value.unknown_calls, len(server.requests)) == ("endpoint-rate-limit", 0, 1)
        assert eventually(lambda: asker._throttle.paused_s < 0.1)
        assert asker.ask(HELLO).text == "hi"
    assert server.times[1] - server.times[0] >= 0.5


def test_who_waits_for_a_place_when_a_long_pause_begins_gives_up_at_once():
    with ModelServer([fails(429, retry_after="3600")]) as server:
        asker, codes = client(server, in_flight=1), []

        def attempt():
            with pytest.raises(EndpointError) as caught:
                asker.ask(HELLO)
            codes.append((caught.value.code, caught.value.fix))

        threads = [threading.Thread(target=attempt) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
    assert codes == [("endpoint-rate-limit", "go on later, or raise it")] * 4
    assert len(server.requests) == 1


def test_a_pause_is_observed_after_the_last_try_as_well():
    with ModelServer([fails(429, retry_after="0.4"), says("hi")]) as server:
        asker = client(server, retries=0)
        with pytest.raises(EndpointError):
            asker.ask(HELLO)
        asker.ask(HELLO)
    assert server.times[1] - server.times[0] >= 0.4


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (says(""), AnswerKind.EMPTY),
        (says(None), AnswerKind.EMPTY),
        (says(" \n", message={"reasoning_content": "hm"}), AnswerKind.EMPTY),
        (says("half an ans", finish="length"), AnswerKind.CUT),
        (says("", finish="length", message={"reasoning": "hm"}), AnswerKind.CUT),
        (says("", calls=["ls"], finish="length"), AnswerKind.CUT),
        (says("no", finish="content_filter"), AnswerKind.REFUSED),
        (says(None, message={"refusal": "I cannot"}), AnswerKind.REFUSED),
        (says(None, calls=["ls"]), AnswerKind.ANSWER),
        (says([{"type": "text", "text": "hi"}]), AnswerKind.ANSWER),
    ],
)
def test_kinds_of_answers(reply, kind):
    assert ask(reply)[0].kind is kind


@pytest.mark.parametrize("charset", ["utf-16", "latin-1", "hex", "idna", "no-such"])
def test_an_answer_is_utf_8_whatever_its_header_says(charset):
    body = b'\xef\xbb\xbf{"choices": [{"message": {"content": "h\xc3\xa4 \xff"}, "finish_reason": "stop"}]}'
    answer, server = ask(Reply(body=body, headers={"content-type": f"application/json; charset={charset}"}))
    assert (answer.text, len(server.requests)) == ("hä \ufffd", 1)


def test_what_an_endpoint_says_of_its_fault_can_be_written_down():
    deep = b'{"error": ' + b"[" * 900 + b"]" * 900 + b"}"
    for body in (b'{"error": {"message": "oh \\ud800", "code": [1]}}', deep, b"[" * 100_000, b"5", b"\xff"):
        error, _ = fault(Reply(status=400, body=body, headers={"content-type": "application/json; charset=hex"}))
        assert (error.code, "\n" in str(error)) == ("endpoint-rejected", False)
        assert str(error).encode()


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_is_kept_apart(field):
    answer, _ = ask(says("hi", message={field: "first I think"}))
    assert (answer.text, answer.reasoning) == ("hi", "first I think")


def test_calls_that_are_odd_do_not_break_anything():
    odd = [{"function": {"name": "bash", "arguments": 3}}, "x", {"id": 4}]
    (call,) = ask(says(None, calls=[*odd[:1], {"no": 1}]))[0].calls
    assert (call.id, call.name, call.arguments) == ("call_0", "bash", "")


def test_logprobs_and_token_ids_are_kept_when_given():
    content = [{"token": "h", "logprob": -0.5}, {"token": "i", "logprob": -1}]
    answer, _ = ask(says("hi", choice={"logprobs": {"content": content}, "token_ids": [4, 5]}, prompt_token_ids=[1]))
    assert [(token.text, token.logprob) for token in answer.logprobs] == [("h", -0.5), ("i", -1.0)]
    assert (answer.token_ids, answer.prompt_token_ids) == ((4, 5), (1,))
    content[1]["logprob"] = None
    assert ask(says("hi", choice={"logprobs": {"content": content}}))[0].logprobs is None


def test_usage_with_parts_and_usage_that_cannot_be_true():
    parts = {"prompt_tokens_details": {"cached_tokens": 60}, "completion_tokens_details": {"reasoning_tokens": 4}}
    assert ask(says("hi", usage=USAGE | parts))[0].usage == Usage(
        prompt_tokens=100, cached_tokens=60, completion_tokens=10, reasoning_tokens=4
    )
    assert ask(says("hi", usage=None))[0].usage == Usage()
    assert ask(says("hi", usage=USAGE | {"completion_tokens": 0, "total_tokens": 100}))[0].usage == Usage()


def test_cancelling_ends_a_hanging_request_and_a_pause_at_once():
    for script in ([hangs()], [fails(429, retry_after="20")]):
        with ModelServer(script) as server:
            asker = client(server, timeout_s=30)
            errors = []

            def attempt(asker=asker, errors=errors):
                with pytest.raises(InfrastructureError) as caught:
                    asker.ask(HELLO)
                errors.append(caught.value.code)

            threads = [threading.Thread(target=attempt) for _ in range(2)]
            for thread in threads:
                thread.start()
            assert eventually(lambda: bool(server.requests))
            asker.cancel()
            for thread in threads:
                thread.join(60)
            assert errors == ["cancelled", "cancelled"]
            with pytest.raises(InfrastructureError):
                asker.ask(HELLO)


def test_no_more_requests_in_flight_than_allowed():
    with ModelServer([says("hi", delay_s=0.03)]) as server:
        asker = client(server, in_flight=2)
        threads = [threading.Thread(target=asker.ask, args=(HELLO,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert (len(server.requests), server.most_busy) == (8, 2)


def test_the_key_comes_from_the_environment_and_is_in_no_message(monkeypatch, caplog):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-12345678")
    caplog.set_level(logging.DEBUG)
    error, server = fault(fails(401, "wrong key sk-secret-12345678"))
    assert server.keys == ["Bearer sk-secret-12345678"]
    assert "sk-secret" not in str(error) + caplog.text


@pytest.mark.parametrize(
    ("flag", "flags"),
    [
        ("--base-url", "-m and --base-url"),
        ("--generator-url", "--generator-model and --generator-url"),
        ("--judge-url", "--judge-model and --judge-url"),
    ],
)
def test_what_to_do_about_a_fault_names_what_the_user_gave(flag, flags):
    for status, fix in ((401, "set WRITER_KEY"), (404, f"look at {flags}")):
        with ModelServer([fails(status)]) as server:
            asker = ModelClient("m", endpoint(server, key_variable="WRITER_KEY"), Sampling(), flag=flag)
            with pytest.raises(EndpointError) as caught:
                asker.ask(HELLO)
        assert caught.value.fix == fix


def test_what_was_never_sent_was_never_paid():
    assert not broken(httpx2.LocalProtocolError("illegal header value")).paid
    assert not broken(httpx2.ConnectError("refused")).paid
    assert broken(httpx2.RemoteProtocolError("gone")).paid
