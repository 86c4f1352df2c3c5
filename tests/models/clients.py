"""Clients that try again soon."""

from __future__ import annotations

from typing import Any

from envs_forge.models.answer import Request
from envs_forge.models.client import ModelClient
from envs_forge.models.settings import EndpointSettings, Sampling

from .server import ModelServer

PLAIN = Sampling()
IMPATIENT = {"timeout_s": 1.0}
"""Where an endpoint lets a request hang; a loaded machine may take longer for a request that does not."""
HELLO = Request(messages=[{"role": "user", "content": "hello"}], seed=7)


def endpoint(server: ModelServer | str, **settings: Any) -> EndpointSettings:
    url = server if isinstance(server, str) else server.url
    return EndpointSettings(**{"base_url": url, "timeout_s": 30.0, "retries": 2, "pause_s": 0.01, **settings})


def client(server: ModelServer | str, sampling: Sampling = PLAIN, **settings: Any) -> ModelClient:
    return ModelClient("asked", endpoint(server, **settings), sampling)
