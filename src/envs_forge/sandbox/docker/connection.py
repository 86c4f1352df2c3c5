"""The way to the Docker engine: finds it, and turns what it says into the package's own errors."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import docker
import requests
from docker.errors import APIError, DockerException
from docker.tls import TLSConfig

from envs_forge.errors import DiskFullError, EngineError, PrerequisiteError

TIMEOUT_S = 180
"""Seconds without an answer after which a request to the engine counts as failed."""

NO_ENGINE_FIX = "start Docker, or run `make engine`"


def connect(timeout: float = TIMEOUT_S) -> docker.APIClient:
    """Connect to the engine that the `docker` command would use: DOCKER_HOST first, else the current context.

    Args:
        timeout: Seconds that a request may go without an answer.

    Raises:
        PrerequisiteError: No engine answers.
    """
    try:
        client = docker.APIClient(timeout=timeout, max_pool_size=64, version="auto", **_endpoint())
        client.ping()
    except (DockerException, requests.RequestException, OSError, ValueError) as error:
        raise PrerequisiteError(f"no Docker engine answers: {_first_line(error)}", fix=NO_ENGINE_FIX) from error
    return client


@contextmanager
def translated(action: str) -> Iterator[None]:
    """Raise the engine's and the connection's errors as `EngineError` or `DiskFullError`.

    Args:
        action: What was being done, as in "the engine could not <action>".
    """
    try:
        yield
    except APIError as error:
        text = str(error.explanation or error)
        if "no space left on device" in text:
            raise DiskFullError(f"the disk is full: the engine could not {action}") from error
        raise EngineError(f"the engine could not {action}: {_first_line(text)}") from error
    except requests.Timeout as error:
        raise EngineError(f"the engine did not {action} in {TIMEOUT_S} s", code="timeout") from error
    except (DockerException, requests.RequestException, OSError) as error:
        raise EngineError(f"the engine could not {action}: {_first_line(error)}") from error


def _endpoint() -> dict[str, object]:
    """Arguments for the client: base URL and TLS."""
    if os.environ.get("DOCKER_HOST"):
        from docker.utils import kwargs_from_env

        return dict(kwargs_from_env())
    from docker.context import ContextAPI

    context = ContextAPI.get_current_context()
    if context is None or not context.Host:
        return {}
    return {"base_url": context.Host, "tls": _verified(context.TLSConfig)}


def cli() -> list[str]:
    """The `docker` command with the engine it is to talk to, should the caller's environment not be passed on."""
    host = os.environ.get("DOCKER_HOST")
    return ["docker", "--host", host] if host else ["docker"]


def builder_name() -> str:
    """The builder that works inside the engine itself and so sees its local images."""
    if os.environ.get("DOCKER_HOST"):
        return "default"
    from docker.context import ContextAPI

    context = ContextAPI.get_current_context()
    return str(context.Name) if context is not None else "default"


def _verified(tls: TLSConfig | None) -> TLSConfig | bool:
    return tls if tls is not None else False


def _first_line(what: object) -> str:
    return str(what).strip().partition("\n")[0][:300]
