"""`clean` says what it removed; the removing itself is tested beside the sandboxes."""

from __future__ import annotations

from typing import Any

import pytest

from envs_forge.sandbox import cleaning
from envs_forge.sandbox.leftover import Leftover

from .conftest import Forge

FOUND = [Leftover("container", "abc"), Leftover("image", "envs-forge/env:1", 3 * 2**20)]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    calls: list[dict[str, Any]] = []

    def clean(**options: Any) -> cleaning.Cleaning:
        calls.append(options)
        problems = ["the docker engine was not cleaned: it is off"] if options["layers"] == 0 else []
        return cleaning.Cleaning(FOUND if options["images"] else [], problems)

    monkeypatch.setattr(cleaning, "clean", clean)
    return calls


def test_lines_and_sizes(forge: Forge, asked: list[dict[str, Any]]) -> None:
    said = forge("clean", "--images", "5G")
    assert said.code == 0
    assert said.out.splitlines() == [
        "container abc",
        "image envs-forge/env:1 (3.0 MB)",
        "2 things removed, 3.0 MB",
    ]
    assert asked == [{"images": 5 * 2**30, "layers": None, "dry_run": False}]
    assert "2 things would be removed, 3.0 MB" in forge("clean", "--images", "5G", "--dry-run").out
    assert forge("clean").out == "nothing to remove\n"


def test_json_and_problems(forge: Forge, asked: list[dict[str, Any]]) -> None:
    said = forge("clean", "--images", "1M", "--layers", "0", "--json")
    assert said.code == 1
    assert (said.json["bytes"], said.json["removed"][0]) == (
        3 * 2**20,
        {"kind": "container", "name": "abc", "bytes": 0},
    )
    assert said.json["problems"] == ["the docker engine was not cleaned: it is off"]


def test_a_size_that_is_none_is_one_line(forge: Forge, asked: list[dict[str, Any]]) -> None:
    said = forge("clean", "--images", "lots")
    assert (said.code, said.err) == (2, "Error: 'lots' is no size (write it like 20G or 500M)\n")
    assert asked == []
