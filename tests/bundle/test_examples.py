"""The tasks under `examples/` are sound in form."""

from __future__ import annotations

from pathlib import Path

import pytest

from envs_forge.bundle import check_bundle, find_bundles, read_bundle
from envs_forge.bundle.support import unsupported

TASKS = find_bundles([Path(__file__).parents[2] / "examples"])


def test_there_are_five() -> None:
    assert len(TASKS) == 5


@pytest.mark.parametrize("path", TASKS, ids=lambda path: path.name)
def test_examples_are_sound(path: Path) -> None:
    assert check_bundle(path) == []
    bundle = read_bundle(path)
    assert unsupported(bundle) == []
    assert not bundle.config.environment.network
    assert bundle.config.name == f"examples/{bundle.id}"
    for script in ("tests/test.sh", "solution/solve.sh"):
        assert bundle.files[script].mode & 0o111
