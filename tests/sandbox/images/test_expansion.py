import pytest
from hypothesis import given
from hypothesis import strategies as st

from envs_forge.sandbox.images.expansion import expand

VARIABLES = {"A": "a", "EMPTY": "", "TAG": "22.04"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("ubuntu:$TAG", "ubuntu:22.04"),
        ("ubuntu:${TAG}-x", "ubuntu:22.04-x"),
        ("${NONE}", ""),
        ("${NONE:-d}", "d"),
        ("${EMPTY:-d}", "d"),
        ("${EMPTY-d}", ""),
        ("${NONE-d}", "d"),
        ("${A:-d}", "a"),
        ("${A:+yes}", "yes"),
        ("${EMPTY:+yes}", ""),
        ("${EMPTY+yes}", "yes"),
        ("${NONE:-${A}-${NONE:-z}}", "a-z"),
        ("\\$A", "$A"),
        ('"q$A"', "qa"),
        ("$", "$"),
        ("${A", "a"),
        ("${}", ""),
    ],
)
def test_table(text: str, value: str) -> None:
    assert expand(text, VARIABLES) == value


@given(st.text())
def test_it_always_ends(text: str) -> None:
    expand(text, VARIABLES)
