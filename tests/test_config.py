from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from envs_forge.config import RunConfig, differing_keys, known_keys, load_config
from envs_forge.errors import UserError


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "run.toml"


def test_flags_win_over_the_file_and_the_file_over_defaults(file: Path) -> None:
    file.write_text('policy = "nop"\nrollouts = 6\n[plan]\nsize = 5\nrecipe = "few-shot"\n')
    config = load_config(file, {"rollouts": 8, "plan.size": 7, "policy": None})
    assert (config.policy, config.rollouts, config.plan.size, config.plan.recipe) == ("nop", 8, 7, "few-shot")
    assert config.draws == RunConfig().draws


def test_one_seed_number_stands_for_all_that_are_not_set(file: Path) -> None:
    assert load_config(None, {"seed": 5, "plan.size": 3}).plan.seed == 5
    assert load_config(None, {"seed": 5, "plan.seed": 2}).plan.seed == 2
    file.write_text("seed = 7\n")
    assert (load_config(file, {}).seed, load_config(file, {}).plan.seed) == (7, 7)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("polcy = 'nop'", "unknown key 'polcy', did you mean 'policy'?"),
        ("size = 20", "unknown key 'size', did you mean 'plan.size'?"),
        ("[plan]\ntau = 0.3", "unknown key 'plan.tau', did you mean 'plan.frontier.tau'?"),
        ("[plan]\nrecipee = 'forge'", "unknown key 'plan.recipee', did you mean 'plan.recipe'?"),
        ("[plan.frontier]\ntua = 0.3", "unknown key 'plan.frontier.tua', did you mean 'plan.frontier.tau'?"),
        ("zzz = 1", "unknown key 'zzz'"),
        ("rollouts = 0", "rollouts: input should be greater than or equal to 1"),
        ("[plan]\nrecipe = 'best'", "plan.recipe: input should be 'forge', 'few-shot'"),
        ("plan = 3", "plan: input should be"),
        ("rollouts = \nseed = 1", "is not valid TOML: Invalid value"),
    ],
)
def test_a_mistake_is_one_line_that_names_file_and_key(file: Path, text: str, message: str) -> None:
    file.write_text(text)
    with pytest.raises(UserError) as caught:
        load_config(file, {})
    assert message in str(caught.value)
    assert str(file) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_all_mistakes_come_at_once(file: Path) -> None:
    file.write_text("rolouts = 1\ndraws = 0\n")
    with pytest.raises(UserError, match=r"'rolouts', did you mean 'rollouts'\?.*draws|draws.*rollouts"):
        load_config(file, {})


def test_a_file_that_cannot_be_read_is_one_line(file: Path) -> None:
    with pytest.raises(UserError, match=r"cannot read .*: No such file"):
        load_config(file, {})
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UserError, match="is not UTF-8"):
        load_config(file, {})


def test_a_flag_below_a_key_that_is_no_table(file: Path) -> None:
    file.write_text("plan = 3")
    with pytest.raises(UserError, match="plan must be a table"):
        load_config(file, {"plan.size": 3})


@pytest.mark.parametrize(
    ("change", "keys"),
    [
        ({}, []),
        ({"rollouts": 5}, ["rollouts"]),
        ({"plan.frontier.tau": 0.3, "seeds": ("b",)}, ["plan.frontier.tau", "seeds"]),
        ({"plan.quotas": {"tool/git": 2}}, ["plan.quotas.tool/git"]),
    ],
)
def test_differing_keys_are_named(change: dict[str, Any], keys: list[str]) -> None:
    one, other = load_config(None, {}), load_config(None, change)
    assert differing_keys(one.model_dump(mode="json"), other.model_dump(mode="json")) == keys


def test_every_key_is_explained() -> None:
    assert {"policy", "plan.size", "plan.frontier.tau"} <= set(known_keys())
    assert all(field.description for field in RunConfig.model_fields.values())


def test_a_model_that_writes_is_the_generator_unless_another_is_named(tmp_path: Path) -> None:
    file = tmp_path / "c.toml"
    file.write_text('[writer]\nmodel = "w"\n')
    assert load_config(file, {}).generator == "llm"
    assert load_config(file, {"generator": "procedural"}).generator == "procedural"
