import pytest
from pydantic import ValidationError

from envs_forge.models.settings import PriceSettings, Sampling

from .clients import HELLO, client
from .server import ModelServer, says


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("max_tokens", "sampling.max_tokens"),
        ("max_completion_tokens", "sampling.max_tokens"),
        ("n_predict", "sampling.max_tokens"),
        ("n", "one answer is asked for at a time"),
        ("best_of", "one answer is asked for at a time"),
        ("temperature", "sampling.temperature"),
        ("top_p", "sampling.top_p"),
        ("seed", "sampling.send_seed"),
        ("logprobs", "sampling.logprobs"),
        ("stream", "endpoint.stream"),
        ("stream_options", "endpoint.stream"),
        ("model", "its own setting"),
        ("messages", "the program's own"),
        ("tools", "the program's own"),
    ],
)
def test_extra_fields_that_would_undo_a_setting_are_refused_with_what_to_do_instead(name, instead):
    with pytest.raises(ValidationError) as caught:
        Sampling(extra={"top_k": 3, name: 4})
    assert f"`{name}` cannot be set there: " in str(caught.value)
    assert instead in str(caught.value)


def test_all_that_the_client_sends_of_itself_is_refused_as_an_extra_field():
    sampling = Sampling(top_p=0.5, logprobs=True)
    request = HELLO.model_copy(update={"tools": [{"type": "function", "function": {"name": "bash"}}]})
    with ModelServer([says("hi")]) as server:
        client(server, sampling, stream=True).ask(request)
    for name in server.requests[0]:
        with pytest.raises(ValidationError):
            Sampling(extra={name: 1})


def test_other_extra_fields_are_the_endpoint_s_affair():
    extra = {"top_k": 3, "top_logprobs": 2, "return_token_ids": True, "chat_template_kwargs": {"n": 1}}
    assert Sampling(extra=extra).extra == extra


@pytest.mark.parametrize(
    ("price", "dollars"),
    [
        (PriceSettings(prompt=1, completion=2), 5.0),
        (PriceSettings(prompt=1, cached=0.5, completion=2), 5.0),
        (PriceSettings(prompt=1, cached=3, completion=2), 7.0),
        (PriceSettings(prompt=1, cached=3), None),
        (PriceSettings(cached=3, completion=2), None),
    ],
)
def test_the_worst_price_is_that_of_the_dearer_kind_of_prompt(price, dollars):
    assert price.worst(1_000_000, 2_000_000) == dollars
