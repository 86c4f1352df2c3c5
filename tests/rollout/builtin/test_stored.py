"""Parameters on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from envs_forge.errors import UserError
from envs_forge.rollout.policies.builtin.parameters import preset
from envs_forge.rollout.policies.builtin.stored import read_parameters, write_parameters
from envs_forge.rollout.policies.make import make_policy


def test_parameters_come_back_to_the_last_bit(tmp_path: Path) -> None:
    trained = preset("weak", seed=3, weights={"way:filter_rows/do": 0.1 + 0.2, "stance:honour": -1e-17})
    write_parameters(tmp_path / "p.json", trained)
    assert read_parameters(tmp_path / "p.json") == trained
    assert read_parameters(tmp_path / "p.json").digest == trained.digest


def test_a_policy_is_made_of_a_file(tmp_path: Path) -> None:
    write_parameters(tmp_path / "p.json", preset("weak", weights={"stance:honour": 1.0}))
    policy = make_policy(f"builtin:{tmp_path / 'p.json'}")
    assert policy.identity != make_policy("builtin:weak").identity
    assert policy.identity.name == "builtin-weak"


@pytest.mark.parametrize("content", [None, "", "[]", '{"strength": 1}', '{"unknown": 1}'])
def test_anything_else_is_one_line(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "p.json").write_text(content)
    with pytest.raises(UserError) as caught:
        make_policy(f"builtin:{tmp_path / 'p.json'}")
    assert "p.json" in str(caught.value)
    assert "\n" not in str(caught.value)
