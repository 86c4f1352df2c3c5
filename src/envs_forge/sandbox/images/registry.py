"""Asks, through the engine, whether an image can be pulled. Decided once for each registry and process."""

from __future__ import annotations

import threading
from enum import StrEnum
from http import HTTPStatus

import docker
import requests
from docker.errors import APIError

from envs_forge.sandbox.docker.connection import connect
from envs_forge.sandbox.images.names import registry

TIMEOUT_S = 4.0
ANSWERS = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND})
DENIALS = ("denied", "unauthorized", "manifest unknown", "not found", "no matching manifest")


class RegistryPolicy(StrEnum):
    """When registries are asked for an image that is not here.

    `first`: the real image wins over a stand-in where it can be had. `last`: only images without a stand-in are
    asked for. `never`: no registry is asked.
    """

    FIRST = "first"
    LAST = "last"
    NEVER = "never"


class Registries:
    """What the registries said so far. One object for a process; thread-safe."""

    def __init__(self) -> None:
        self._client: docker.APIClient | None = None
        self._silent: set[str] = set()
        self._has: dict[str, bool] = {}
        self._lock = threading.Lock()

    def has(self, name: str) -> bool:
        """Whether `name` can be pulled. Asks at most once a name, and a registry that is silent never again."""
        with self._lock:
            if registry(name) in self._silent:
                return False
            if name not in self._has:
                self._has[name] = self._ask(name)
            return self._has[name]

    def _ask(self, name: str) -> bool:
        if self._client is None:
            self._client = connect(timeout=TIMEOUT_S)
        try:
            self._client.inspect_distribution(name)
        except APIError as error:
            if not _is_answer(error):
                self._silent.add(registry(name))
            return False
        except (requests.RequestException, OSError):
            self._silent.add(registry(name))
            return False
        return True


def _is_answer(error: APIError) -> bool:
    """Whether the registry itself said no, rather than nobody."""
    text = str(error.explanation).lower()
    return error.status_code in ANSWERS or any(word in text for word in DENIALS)
