from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click
import pytest

from envs_forge.cli.app import COMMANDS, cli
from envs_forge.cli.options import settings
from envs_forge.cli.reference import reference
from envs_forge.config import RunConfig, flatten, known_keys

IN_WORDS = {
    "concurrency": "cores",
    "generator": "procedural; with a model llm",
    "in_flight": "16 where a model writes",
}
"""Defaults that depend on something; help says on what."""
PAGE = Path(__file__).parents[2] / "docs" / "cli.md"


def commands() -> list[click.Command]:
    found = [cli.get_command(click.Context(cli), name) for name in COMMANDS]
    return [command for command in found if command is not None]


def test_the_page_is_what_the_code_says() -> None:
    assert PAGE.read_text("utf-8") == reference(), "run: python -m envs_forge.cli.reference"


def stated_defaults() -> dict[str, str]:
    """Defaults that help texts state for options that a config file may set, by key of the config."""
    stated: dict[str, str] = {}
    for command in commands():
        if command.name == "plan":
            continue
        for option in command.params:
            match = re.search(r"\[default: ([^\],]+)", getattr(option, "help", None) or "")
            if match is None or option.name == "transition":  # that one stands for several settings
                continue
            (key,) = settings(**{str(option.name): "x"})
            if key in known_keys():
                stated[key] = match[1]
    return stated


@pytest.mark.parametrize(("key", "said"), sorted(stated_defaults().items()))
def test_defaults_in_help_are_those_of_the_config(key: str, said: str) -> None:
    default: Any = flatten(RunConfig().model_dump(mode="json"))[key]
    assert said == IN_WORDS.get(key, str(default))


def test_most_settings_with_a_flag_state_their_default() -> None:
    flags = {"rollouts", "plan.size", "plan.recipe", "draws", "seed", "engine", "policy", "generator"}
    assert flags <= stated_defaults().keys()


def test_every_setting_is_explained() -> None:
    rows = [line.split(" | ") for line in reference().splitlines() if line.startswith("| `")]
    assert [row[0][3:-1] for row in rows] == known_keys()
    assert all(len(row[2]) > 3 for row in rows)


@pytest.mark.parametrize("command", commands(), ids=lambda command: command.name)
def test_every_option_is_explained(command: click.Command) -> None:
    for option in command.params:
        if isinstance(option, click.Option):
            assert option.help, option.name


def test_letters_mean_the_same_everywhere() -> None:
    letters: dict[str, set[str]] = {}
    for command in commands():
        for option in command.params:
            for name in option.opts:
                if re.fullmatch(r"-\w", name):
                    letters.setdefault(name, set()).add(str(option.name))
    assert all(len(names) == 1 for names in letters.values()), letters
    assert {"-p", "-m", "-k", "-n", "-l", "-i", "-x", "-c", "-o", "-q", "-N"} <= letters.keys()
