from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envs_forge.bundle.compose import COMPOSE, compose_finding, laid_over, services_of, support_finding
from envs_forge.bundle.model import EnvironmentConfig
from envs_forge.bundle.yamltext import load_yaml

BOMB = "\n".join(
    f"{name}: &{name} [{', '.join([before] * 9)}]"
    for before, name in zip(["x", "*a", "*b", "*c", "*d", "*e", "*f", "*g"], "abcdefgh", strict=True)
)


def service(value: str) -> bytes:
    return f"services:\n  main:\n    init: {value}\n".encode()


def test_what_people_write_is_read() -> None:
    text = b"x-all: &all\n  tty: true\nservices:\n  main:\n    <<: *all\n    build: .\n    environment: {A: '1', B: }\n"
    assert load_yaml(text)["services"]["main"] == {"tty": True, "build": ".", "environment": {"A": "1", "B": None}}
    assert load_yaml(b"") is None


@pytest.mark.parametrize(
    "value",
    [
        "!!bool x",
        '!!int ""',
        '!!float ""',
        "!!timestamp x",
        "!!binary \xe4",
        "2020-13-45",
        "!!python/object:os.system x",
        "0x" + "f" * 6000,
        '"\\ud800"',
        '"\\0"',
        "&a [*a]",
        "*none",
        "[" * 41 + "]" * 41,
        "'" + "x" * 50_000 + "'",
        "{[a]: b, {c: d}: e}",
        "\n" + BOMB,
    ],
    ids=lambda value: value[:12],
)
def test_what_cannot_be_used_is_one_kind_of_error(value: str) -> None:
    data = service(value)
    with pytest.raises(ValueError):  # noqa: PT011 - whatever it says
        load_yaml(data)
    assert services_of(data) is None
    assert laid_over(data, EnvironmentConfig()) == EnvironmentConfig()
    for finding in (compose_finding(COMPOSE, data), support_finding(COMPOSE, data)):
        assert finding is not None
        assert finding.code == "compose-unreadable"


@pytest.mark.parametrize(
    "text",
    ["[" * 3000, "[\n" * 20_000, "- " * 20_000, "? " * 20_000, "{a: " * 12_000, "- a\n" * 12_000, "a\n" * 25_000],
)
def test_hostile_nesting_costs_no_time(text: str) -> None:
    began = time.process_time()
    services_of(text.encode())
    assert time.process_time() - began < 5, "seconds"


PIECES = [
    *"[]{}:,-?&*!|>%@`\"'#~\n\t 0x1",
    "services:\n",
    "  main:\n",
    "    build: ",
    "!!int ",
    "!!set ",
    "<<: ",
    "&a ",
    "*a",
]
PIECES += [
    "!!omap ",
    "!!pairs ",
    "!!binary ",
    "2001-01-01",
    ".inf",
    "    volumes: ",
    "  other: {image: a, volumes: 5, ",
]


@given(st.lists(st.sampled_from(PIECES)).map("".join))
@settings(max_examples=300)
def test_anything_is_services_or_a_finding(text: str) -> None:
    for data in (
        text.encode(),
        b"services:\n  main: " + text.encode(),
        b"services: {main: {}, other: {" + text.encode() + b"}}",
    ):
        services = services_of(data)
        assert services is None or f"{services}".encode()
        compose_finding(COMPOSE, data)
        support_finding(COMPOSE, data)
        assert f"{laid_over(data, EnvironmentConfig())}".encode()


def test_services_of_the_wrong_types_are_a_finding() -> None:
    found = support_finding(COMPOSE, b"services:\n  main: {}\n  other: {image: a, volumes: 5}\n")
    assert found is not None
    assert found.code == "compose-unreadable"
