"""What environments were like: sizes from what is kept of candidates, means by arm."""

from __future__ import annotations

from pathlib import Path

import pytest

from envs_forge.study.block import Block
from envs_forge.study.cell import Child, run_cell
from envs_forge.study.makeup import makeup, sizes

from .small import CONFIG as SMALL
from .small import ground
from .test_analysis import CONFIG, cell


def test_sizes_are_those_of_the_kept_candidates(tmp_path: Path) -> None:
    block = Block(ground(tmp_path), SMALL.regimes[0], SMALL.readers[0], 0)
    course = run_cell(block, SMALL.arms[1])
    found = sizes(tmp_path)
    assert {child.content_hash for child in course.children} == set(found)
    assert all(steps >= 1 and constraints >= 0 for steps, constraints in found.values())
    row = makeup(SMALL, [course], found)[0]
    assert (row.arm, row.mixed_groups) == ("few-shot-blind", course.mixed)
    assert row.steps == pytest.approx(sum(found[child.content_hash][0] for child in course.children) / course.accepted)


def test_means_are_over_environments_and_gains_over_mixed_groups() -> None:
    children = [
        Child(content_hash=name, action="reduce/in_depth", seed_k=0, seed_n=4, predicted=0.2, k=k, n=n)
        for name, k, n in (("a", 0, 8), ("b", 4, 8), ("c", 8, 8), ("d", 0, 0))
    ]
    changes = {"children": children, "base": 0.2, "trained": 0.3, "mixed": 5}
    one = cell("weak", 0, "forge").model_copy(update=changes)
    row = makeup(CONFIG, [one], {"a": (1, 2), "b": (3, 0)})[0]
    assert (row.steps, row.constraints) == (2.0, 1.0)
    assert (row.measured, row.edge) == (0.5, pytest.approx(1 / 3))
    assert row.gain_per_mixed == pytest.approx(0.02)
    idle = one.model_copy(update={"children": [], "mixed": 0})
    empty = makeup(CONFIG, [idle], {})[0]
    assert (empty.steps, empty.measured, empty.edge, empty.gain_per_mixed) == (None, None, None, None)
