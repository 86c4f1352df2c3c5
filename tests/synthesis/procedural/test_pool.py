"""The committed pool is what the generator makes, and covers what it can do."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from envs_forge.bundle import Bundle, check_bundle, find_bundles, read_bundle
from envs_forge.synthesis.procedural.composition import Composition, read_composition
from envs_forge.synthesis.procedural.operations import operations
from envs_forge.synthesis.procedural.pool import pool
from envs_forge.synthesis.procedural.scenario import scenario_ids

SEEDS = Path(__file__).parents[3] / "seeds"


@pytest.fixture(scope="module")
def committed() -> dict[str, Bundle]:
    return {path.name: read_bundle(path) for path in find_bundles([SEEDS])}


@pytest.fixture(scope="module")
def compositions(committed: dict[str, Bundle]) -> list[Composition]:
    found = [read_composition(bundle.provenance) for bundle in committed.values()]
    assert all(found)
    return [composition for composition in found if composition]


def kept(bundle: Bundle) -> dict[str, tuple[bytes, str | None, bool]]:
    """What a version control system keeps of the files: of the modes only the run bit, and of links none."""
    files = bundle.files.items()
    return {path: (file.data, file.target, not file.target and bool(file.mode & 0o100)) for path, file in files}


def test_made_again_it_has_the_same_bytes(committed: dict[str, Bundle]) -> None:
    made = {bundle.id: bundle for bundle in pool()}
    assert made.keys() == committed.keys()
    assert [name for name, bundle in made.items() if kept(bundle) != kept(committed[name])] == []


def test_seventy_two_sound_bundles(committed: dict[str, Bundle]) -> None:
    assert len(committed) == 72
    assert [finding for bundle in committed.values() for finding in check_bundle(bundle)] == []


def test_every_operation_and_scenario_and_all_sizes(compositions: list[Composition]) -> None:
    uses = Counter(use.operation for composition in compositions for use in composition.uses)
    assert uses.keys() == operations().keys()
    assert Counter(composition.scenario for composition in compositions).keys() == {*scenario_ids()}
    weights = Counter(composition.weight for composition in compositions)
    assert weights[1] >= 8
    assert sum(count for weight, count in weights.items() if weight >= 7) >= 6


def test_both_halves_have_easy_and_hard_ones(compositions: list[Composition]) -> None:
    halves = [[c.weight for c in part] for part in (compositions[:30], compositions[30:60])]
    for half in halves:
        assert min(half) == 1
        assert max(half) >= 8
    assert abs(sum(halves[0]) - sum(halves[1])) < 40


def test_a_dozen_tasks_of_one_plain_command_come_last(compositions: list[Composition]) -> None:
    plain = compositions[60:]
    assert [composition.weight for composition in plain] == [1] * 12
    assert all(operations()[composition.uses[0].operation].plain for composition in plain)
    assert not any(operations()[use.operation].plain for c in compositions[:60] for use in c.uses)
