"""Scenarios: the story around a chain, its vocabulary and its wordings, read from `scenarios/*.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class Column(BaseModel):
    """A column of the scenario's tables (and a field of its documents)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    values: tuple[str, ...] = ()
    """For labels and names."""
    low: int = 1
    high: int = 999
    """For numbers."""
    pattern: str = "{:03d}"
    """For keys: how a number becomes one."""


class Vocabulary(BaseModel):
    """Words and names of one scenario."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    stems: tuple[str, ...] = Field(min_length=2)
    """Names for given files and directories, without the ending."""
    services: tuple[str, ...] = Field(min_length=2)
    """Names for local services and their directories."""
    key: Column
    labels: tuple[Column, ...] = Field(min_length=2)
    name: Column
    numbers: tuple[Column, ...] = Field(min_length=2)
    date: Column
    words: tuple[str, ...] = Field(min_length=12)
    """Lower-case words for file names, keys and messages."""
    people: tuple[str, ...] = Field(min_length=6)


class Scenario(BaseModel):
    """A story. All texts are plain sentences without paths, so that no one takes them for a step."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    titles: tuple[str, ...] = Field(min_length=3)
    intros: tuple[str, ...] = Field(min_length=3)
    leads: tuple[str, ...] = Field(min_length=3)
    given: str
    """Directory of the given files."""
    results: str
    """Directory of what is to be written."""
    variables: Mapping[str, str]
    """Environment variables of the scenario's machine, at least a dozen: the larger the task, the more are set."""
    vocabulary: Vocabulary


@cache
def scenario_ids() -> tuple[str, ...]:
    """All scenarios, sorted."""
    folder = files(__package__).joinpath("scenarios")
    return tuple(sorted(f.name.removesuffix(".toml") for f in folder.iterdir() if f.name.endswith(".toml")))


@cache
def load_scenario(name: str) -> Scenario:
    """Read one scenario.

    Raises:
        KeyError: There is none of this name.
    """
    if name not in scenario_ids():
        raise KeyError(name)
    text = files(__package__).joinpath("scenarios", f"{name}.toml").read_text(encoding="utf-8")
    table: dict[str, Any] = tomllib.loads(text)
    return Scenario.model_validate({"id": name, **table})
