"""These tests need the extra `train`: `make test-train` has an environment with it."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from envs_forge.sandbox.runtime import Runtime, open_runtime

if find_spec("torch") is None:
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from .tiny import save

    return save(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def sandboxes() -> Iterator[Runtime]:
    with open_runtime("auto") as opened:
        yield opened
