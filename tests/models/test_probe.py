import pytest

from envs_forge.errors import PrerequisiteError, UserError
from envs_forge.models.probe import probe

from .clients import client
from .server import ModelServer, fails, says

TOOL = {"type": "function", "function": {"name": "bash", "parameters": {}}}


@pytest.mark.parametrize("takes_tools", [True, False])
def test_whether_tools_are_taken(takes_tools):
    with ModelServer(takes_tools=takes_tools) as server:
        probed = probe(client(server), [TOOL])
    assert (probed.model, probed.takes_tools) == ("served", takes_tools)


@pytest.mark.parametrize(
    ("answer", "takes_tools"),
    [
        (says(None, calls=["true"]), True),
        (says('{"name": "bash", "arguments": {"command": "true"}}'), False),
        (says("", finish="length", message={"reasoning": "let me think"}), True),
    ],
)
def test_calls_that_are_written_into_the_text_are_none(answer, takes_tools):
    with ModelServer() as server:
        server.probed = answer
        assert probe(client(server), [TOOL]).takes_tools is takes_tools


def test_an_endpoint_that_takes_one_temperature_only():
    class Picky(ModelServer):
        def _reply(self, body, key):
            picky = body["temperature"] == 0.0
            return fails(400, "Unsupported value: 'temperature'") if picky else super()._reply(body, key)

    with Picky() as server:
        assert probe(client(server), [TOOL]).takes_tools


def refuses(reply):
    class Refusing(ModelServer):
        def _reply(self, body, key):
            return reply

    return Refusing([says("")])


@pytest.mark.parametrize(
    ("reply", "kind", "words"),
    [
        (fails(401), UserError, "OPENAI_API_KEY"),
        (fails(404), UserError, "look at -m"),
        (fails(400), UserError, "look at -m"),
        (fails(503), PrerequisiteError, "start the endpoint"),
    ],
)
def test_what_is_wrong_is_one_line_with_the_fix(reply, kind, words):
    with refuses(reply) as server, pytest.raises(UserError) as caught:
        probe(client(server), [TOOL])
    assert type(caught.value) is kind
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
