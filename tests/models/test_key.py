"""Addresses and keys: where they come from, and those that cannot be used."""

import sys

import pytest
from pydantic import ValidationError

from envs_forge.config import make_config
from envs_forge.errors import UserError
from envs_forge.models.client import ModelClient, _tls
from envs_forge.models.settings import EndpointSettings, Sampling

from .clients import HELLO, client
from .server import ModelServer, says

BAD_URLS = [
    ("http://me:topsecret@host/v1", "a password"),
    ("me:topsecret@host/v1", "no http address"),
    ("http://me:topsecret@[host/v1", "no http address"),
    ("http://host/v1?api_key=topsecret", "after `\\?` or `#`"),
    ("http://host/v1#topsecret", "after `\\?` or `#`"),
    ("http://host/v1?", "after `\\?` or `#`"),
    ("host:80", "no http address"),
    ("http://[bad/v1", "no http address"),
    ("http://host:abc/v1", "no http address"),
    ("http://host:99999/v1", "no http address"),
    ("http://ho\tst/v1", "no http address"),
    ("http://ho st/v1", "no http address"),
    ("http:///v1", "no http address"),
]


@pytest.mark.parametrize(("url", "words"), BAD_URLS)
def test_addresses_that_cannot_be_used_are_refused_without_their_secrets(url, words, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    with pytest.raises(UserError, match=words) as caught:
        ModelClient("m", EndpointSettings(), Sampling())
    assert "OPENAI_BASE_URL" in caught.value.fix
    assert "topsecret" not in str(caught.value)


@pytest.mark.parametrize(("url", "words"), [row for row in BAD_URLS if "topsecret" in row[0]])
def test_an_address_with_a_secret_gets_into_no_config(url, words):
    with pytest.raises(UserError, match=rf"^test: judge.endpoint.base_url: .*{words}") as caught:
        make_config({"judge": {"endpoint": {"base_url": url}}}, where="test")
    with pytest.raises(ValidationError) as raw:
        EndpointSettings(base_url=url)
    assert "topsecret" not in str(caught.value) + str(raw.value)


def test_other_addresses_that_cannot_be_used_are_told_with_the_flag():
    settings = EndpointSettings(base_url="http://host:abc/v1")
    with pytest.raises(UserError, match="--judge-url http://HOST"):
        ModelClient("m", settings, Sampling(), flag="--judge-url")


def test_where_no_address_is_named_there_is_none_to_use(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UserError, match="no model endpoint") as caught:
        ModelClient("m", EndpointSettings(base_url=None), Sampling(), flag="--judge-url")
    assert "--judge-url" in caught.value.fix


def test_a_host_that_no_name_server_could_know_is_refused():
    with pytest.raises(UserError, match="no http address"):
        client("http://ho\u0301st/v1")


@pytest.mark.parametrize(
    ("proxy", "words"), [("socks5://me:topsecret@h:1", "socksio"), ("foo://me:topsecret@h:1", "proxy")]
)
def test_a_proxy_that_cannot_be_used_is_one_line(proxy, words, monkeypatch):
    monkeypatch.setenv("ALL_PROXY", proxy)
    monkeypatch.setitem(sys.modules, "socksio", None)
    with pytest.raises(UserError, match=words) as caught:
        client("http://host/v1")
    assert "ALL_PROXY" in str(caught.value)
    assert "topsecret" not in str(caught.value)


def test_certificates_that_cannot_be_read_are_one_line(monkeypatch, tmp_path):
    _tls.cache_clear()
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
    with pytest.raises(UserError, match="SSL_CERT_FILE"):
        client("http://host/v1")


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("topsecret-1\n", "ends with a line break"),
        ("topsecret-1\r\n", "ends with a line break"),
        ("topsecret-1 ", "blanks"),
        ("topsecret-1\ntopsecret-2\n", "line breaks"),
        ("topsecret-\x7f", "control"),
        ("topsecret-\u00fc", "beyond ASCII"),
        ("\u201ctopsecret-1\u201d", "without quotes"),
        ("\n", "WRITER_KEY"),
    ],
)
def test_a_key_that_cannot_be_sent_is_refused_by_the_name_of_its_variable(key, words, monkeypatch):
    monkeypatch.setenv("WRITER_KEY", key)
    with pytest.raises(UserError, match=words) as caught:
        client("http://host/v1", key_variable="WRITER_KEY")
    assert "WRITER_KEY" in str(caught.value)
    assert "topsecret" not in str(caught.value)


def test_the_address_may_come_from_the_environment(monkeypatch):
    with ModelServer([says("hi")]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        assert ModelClient("m", EndpointSettings(), Sampling()).ask(HELLO).text == "hi"


def test_a_key_comes_from_the_variable_that_is_named_and_names_are_such_that_values_are_redacted(monkeypatch):
    monkeypatch.setenv("WRITER_API_KEY", "sk-of-the-writer")
    with ModelServer([says("hi")]) as server:
        client(server, key_variable="WRITER_API_KEY").ask(HELLO)
    assert server.keys == ["Bearer sk-of-the-writer"]
    for name in ("APIKEY", "WRITER", "WRITER_KEY2", ""):
        with pytest.raises(ValueError, match="key_variable"):
            EndpointSettings(key_variable=name)
