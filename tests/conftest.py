"""Fixtures that several parts share: real engines. And what no test depends on: how fast the machine is."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from envs_forge.errors import PrerequisiteError
from envs_forge.sandbox.runtime import Runtime, open_runtime

ENGINES = ("docker", "oci")

settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")

# A shell that starts the tests in the background has interrupts ignored, and all processes that tests start with it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", params=ENGINES)
def runtime(request: pytest.FixtureRequest) -> Iterator[Runtime]:
    """A runtime on each engine in turn. Without docker that is an error; `oci` needs Linux and root."""
    try:
        opened = open_runtime(request.param)
    except PrerequisiteError as error:
        if request.param == "docker":
            raise
        pytest.skip(str(error))
    with opened:
        yield opened
