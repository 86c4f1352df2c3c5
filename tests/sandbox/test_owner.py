import dataclasses
import subprocess
import sys

import pytest

from envs_forge.sandbox import owner


def test_a_living_process_is_not_dead() -> None:
    me = owner.current()
    assert not me.is_dead()
    assert owner.parse(me.mark()) == me


def test_a_process_that_ended_is_dead() -> None:
    script = "from envs_forge.sandbox import owner; print(owner.current().mark())"
    mark = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip()
    other = owner.parse(mark)
    assert other is not None
    assert other.is_dead()


@pytest.mark.parametrize(
    ("change", "dead"),
    [
        ({"start": "1"}, True),
        ({"boot": "another"}, True),
        ({"node": "another", "start": "1"}, False),
        ({"namespace": "another", "start": "1"}, False),
    ],
)
def test_only_what_is_certainly_gone_is_dead(change: dict[str, str], dead: bool) -> None:
    assert dataclasses.replace(owner.current(), **change).is_dead() is dead


@pytest.mark.parametrize("text", ["", "a.b.c", "a.b.c.x.e", "a.b.c.1.e.f"])
def test_what_is_no_mark_has_no_owner(text: str) -> None:
    assert owner.parse(text) is None
